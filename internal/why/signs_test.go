package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has owners that are alive although they seem to be gone, and programs that are called
// like an owner and are another.

// grantOf is the right of a service account to update the types of a group.
func grantOf(group, namespace string) why.Grant {
	return why.Grant{Service: why.Service{Namespace: namespace, Name: "operator"}, Group: group, Resources: []string{"*"}}
}

// Nothing is proven about an owner of which something runs, whatever that is called.
func TestOwnersThatMayRun(t *testing.T) {
	const possible, none = why.Possible, why.Certainty("")
	for name, test := range map[string]struct {
		evidence  why.Evidence
		certainty why.Certainty // of C04
	}{
		"a pod of its own": {orphan("configmaps", "", "example.com/x", "cfg-operator",
			workload("deployment", "ops", "cfg-operator", 0), workload(why.PodKind, "ops", "cfg-operator", 1)), none},
		"a pod that its Deployment does not count yet": {orphan("configmaps", "", "example.com/x", "cfg-operator",
			workload("deployment", "ops", "cfg-operator", 0), workload(why.PodKind, "ops", "cfg-operator-5d8-x", 1, "manager")), possible},
		"another name, with the program in the command line": {orphan("applications", "argoproj.io", "resources-finalizer.argocd.argoproj.io", "",
			workload("statefulset", "cd", "gitops", 1, "application-controller", "argocd-application-controller")), none},
		"a program with the same letters": {orphan("buckets", "s3.services.k8s.aws", "finalizers.s3.services.k8s.aws/Bucket", "ack",
			workload("deployment", "web", "backend", 1)), possible},
		"another part of the owner, without rights": {orphan("orders", "acme.cert-manager.io", "acme.cert-manager.io/finalizer", "",
			workload("deployment", "cert-manager", "cert-manager", 0), workload("deployment", "cert-manager", "cert-manager-webhook", 1)), why.Proven},
		"rights that may have gone with the namespace":       {orphan("kafkatopics", "kafka.strimzi.io", "strimzi.io/topic-operator", ""), possible},
		"a Lease under the former name, for a built-in type": {former("secrets", ""), possible},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(why.Judge(test.evidence), "C04")
			if test.certainty == none {
				assert.Nil(t, found)
				return
			}
			require.NotNil(t, found)
			assert.Equal(t, test.certainty, found.Certainty, found.Proof)
		})
	}
}

// former is a held object whose owner has only an expired Lease.
func former(resource, group string) why.Evidence {
	e := orphan(resource, group, "example.com/x", "secretsync")
	e.AllLeases.Items = []why.Lease{{Namespace: "ops", Name: "secretsync-lock", Holder: "a", Renewed: deleted}}
	return e
}

// Types of programs beside kube-apiserver are custom ones, also if their group ends in k8s.io.
func TestAGroupOfAnotherProgram(t *testing.T) {
	for group, custom := range map[string]bool{
		"": false, "apps": false, "storage.k8s.io": false, "policy": false, "example": true,
		"gateway.networking.k8s.io": true, "snapshot.storage.k8s.io": true, "metrics.k8s.io": true, "cluster.x-k8s.io": true,
	} {
		assert.Equal(t, custom, why.Type{Group: group}.IsCustom(), group)
	}
}

// Of what is called like an owner, one that was scaled down is brought back, also if another part
// runs.
func TestTheStoppedPartOfAnOwner(t *testing.T) {
	e := orphan("orders", "acme.cert-manager.io", "acme.cert-manager.io/finalizer", "",
		workload("deployment", "cert-manager", "cert-manager-cainjector", 0), workload("deployment", "cert-manager", "cert-manager", 0),
		workload("deployment", "cert-manager", "cert-manager-webhook", 1))
	for i := range e.Workloads.Items {
		e.Workloads.Items[i].Replicas = e.Workloads.Items[i].Ready
	}
	e.Grants.Items = []why.Grant{{Service: why.Service{Namespace: "cert-manager", Name: "default"}, Group: "*", Resources: []string{"*"}}}
	found, lines := advice(t, e, "C04")
	assert.Equal(t, why.Stopped, found.Owner.State)
	assert.Equal(t, "kubectl -n cert-manager scale deployment/cert-manager --replicas=1", found.Do[0])
	assert.NotContains(t, lines, "cainjector")
}

// An operator that is installed twice: the one whose rights are refused may be another than the one
// that removes the finalizer.
func TestTwoInstallationsOfAnOwner(t *testing.T) {
	ours, other := workload("deployment", "es-a", "external-secrets", 1), workload("deployment", "es-b", "external-secrets", 1)
	e := secrets(ours, other)
	refuse(&e, other)
	assert.Nil(t, find(why.Judge(e), "C06"), "ours has its rights")

	e.Workloads.Items[0].Ready, e.Workloads.Items[0].Replicas = 0, 0
	found, lines := advice(t, e, "C06")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Missing, "deployment es-a/external-secrets, which has no ready pod, may be the owner instead")
	assert.Contains(t, lines, "kubectl -n es-a scale deployment/external-secrets --replicas=1")

	e.Workloads.Items = e.Workloads.Items[1:]
	found, lines = advice(t, e, "C06")
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)
	assert.Contains(t, lines, "--serviceaccount=es-b:default")
}

// An installation that may not even list the type may work for other namespaces only: the one of
// this namespace may be gone.
func TestAnInstallationForOtherNamespaces(t *testing.T) {
	w := workload("deployment", "team-b", "external-secrets", 1)
	e := secrets(w)
	refuse(&e, w)
	require.Equal(t, why.Proven, find(why.Judge(e), "C06").Certainty)
	for i := range e.Reviews {
		e.Reviews[i].Allowed = false
	}
	found, lines := advice(t, e, "C06")
	assert.Equal(t, []string{"external-secrets may not list them either, and may work for other namespaces only"}, found.Missing)
	assert.Contains(t, found.Do[0], "if it is the owner, give service account team-b/default")
	assert.NotContains(t, lines, "create clusterrole")
}

// The metadata of a Service may be written with its status.
func TestAnOwnerThatMayWriteTheStatus(t *testing.T) {
	w := workload("deployment", "kube-system", "cloud-controller-manager", 1)
	e := orphan("services", "", "service.kubernetes.io/load-balancer-cleanup", "", w)
	e.Stamps[0].Balancer = true
	refuse(&e, w)
	e.Reviews = append(e.Reviews, why.Review{User: w.User(), Verb: "patch", Resource: "services/status", Request: "POST review"})
	require.Equal(t, why.Proven, find(why.Judge(e), "C06").Certainty)
	e.Reviews[len(e.Reviews)-1].Allowed = true
	assert.Nil(t, find(why.Judge(e), "C06"))
	e.Reviews = e.Reviews[:len(e.Reviews)-1]
	assert.Nil(t, find(why.Judge(e), "C06"), "that was not asked")
}

// While the owner itself is stopped, the rights of its parts are not what is missing.
func TestTheRightsOfAPartOfAStoppedOwner(t *testing.T) {
	part := workload("deployment", "es", "external-secrets-cert-controller", 1, "external-secrets")
	e := secrets(workload("deployment", "es", "external-secrets", 0), part)
	refuse(&e, part)
	assert.Nil(t, find(why.Judge(e), "C06"))
}

// What only shares an image, or has set the finalizer when it created the object, need not be the
// program that removes it: it gets no rights.
func TestAProgramWithoutRightsThatMayBeAnother(t *testing.T) {
	for name, test := range map[string]struct {
		e       why.Evidence
		missing string // "": not named
	}{
		"another part with the owner's image": {secrets(workload("deployment", "es", "external-secrets-webhook", 1, "webhook", "external-secrets")),
			"whether external-secrets-webhook is the part of external-secrets that removes the finalizer is not known"},
		"another part": {secrets(workload("deployment", "es", "external-secrets-webhook", 1, "webhook")), ""},
		"the creator":  {orphan("gadgets", "acme.io", "acme.io/x", "front-portal", workload("deployment", "web", "front-portal", 1)), "front-portal has set the finalizer, and another program may remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			refuse(&test.e, test.e.Workloads.Items[0])
			found := find(why.Judge(test.e), "C06")
			if test.missing == "" {
				assert.Nil(t, found)
				return
			}
			found, lines := advice(t, test.e, "C06")
			assert.Equal(t, why.Possible, found.Certainty)
			assert.Equal(t, []string{test.missing}, found.Missing)
			assert.Contains(t, found.Do[0], "if it is the owner, give service account")
			assert.NotContains(t, lines, "create clusterrole")
		})
	}
}

// The letters of a short name are in many others, and some tools have one.
func TestAShortName(t *testing.T) {
	e := orphan("things", "acme.io", "acme.io/x", "abc", workload("deployment", "web", "crabcake", 1))
	assert.NotContains(t, strings.Join(find(why.Judge(e), "C04").Missing, "; "), "crabcake")
	for manager, isOwner := range map[string]bool{"oc": false, "octopus": true, "kubectl-edit": false, "kube-controller-manager": false} {
		e.Stamps[0].Writers[0].Manager = manager
		assert.Equal(t, isOwner, find(why.Judge(e), "C04").Owner != nil, manager)
	}
}

// A role may name single objects: the answer about one says nothing about another of the type.
func TestARightToOneObject(t *testing.T) {
	w := workload("deployment", "db", "dbop", 1)
	e := orphan("dbs", "acme.io", "acme.io/db", "dbop", w)
	refuse(&e, w)
	require.NotNil(t, find(why.Judge(e), "C06"))
	for i := range e.Reviews {
		e.Reviews[i].Name = "a"
	}
	require.NotNil(t, find(why.Judge(e), "C06"))
	for i := range e.Reviews {
		e.Reviews[i].Name = "b"
	}
	assert.Nil(t, find(why.Judge(e), "C06"))
}

// What only has the letters of an owner's name gets no rights.
func TestNoRightsForAnotherProgram(t *testing.T) {
	backend := workload("deployment", "web", "backend", 1)
	e := orphan("buckets", "s3.services.k8s.aws", "finalizers.s3.services.k8s.aws/Bucket", "ack", backend)
	refuse(&e, backend)
	assert.Nil(t, find(why.Judge(e), "C06"))
}

// A switched-off controller is not the one that wrote the conditions.
func TestAnotherControllerHasWritten(t *testing.T) {
	e := withManagers(why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace-controller"})
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: deleted.Add(time.Second)}}
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty, "it wrote them before it was switched off")
	e.Managers.Items[0].Created = deleted
	assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty, "another process of that name wrote them")
	e.Managers.Items[0].Created = later
	e.Namespace.Writers[0].Manager = "orrery"
	assert.Equal(t, why.Possible, find(why.Judge(e), "C19").Certainty)
}

// The removal of an entry of the namespace is not offered while its owner is alive.
func TestAnEntryOfTheNamespaceWhoseOwnerIsAlive(t *testing.T) {
	e := audited()
	e.Stamps = []why.Stamp{{Type: "namespaces", Object: "shop", Finalizer: "example.com/audit", Writers: []why.Writer{{Manager: "auditor"}}}}
	e.Workloads, e.AllLeases, e.Grants = answered("GET workloads", workload("deployment", "ops", "auditor", 1)), answered[why.Lease]("GET leases"), answered[why.Grant]("GET roles")
	found, lines := advice(t, e, "C16")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, &why.Party{Name: "auditor", State: why.Ready}, found.Owner)
	assert.NotContains(t, lines, "patch")
	assert.NotContains(t, lines, "last resort")
}
