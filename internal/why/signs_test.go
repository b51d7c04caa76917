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

func workload(kind, namespace, name string, ready int, words ...string) why.Workload {
	return why.Workload{Kind: kind, Namespace: namespace, Name: name, Replicas: 1, Ready: ready, Words: words}
}

// grantOf is the right of a service account to update the types of a group.
func grantOf(group, namespace string) why.Grant {
	return why.Grant{Service: why.Service{Namespace: namespace, Name: "operator"}, Group: group, Resources: []string{"*"}}
}

// refuse adds the answers that a workload's account may not update the first type.
func refuse(e *why.Evidence, w why.Workload) {
	for _, verb := range []string{"update", "patch", "list"} {
		e.Reviews = append(e.Reviews, why.Review{User: w.User(), Verb: verb, Group: e.Types[0].Group, Resource: e.Types[0].Resource, Allowed: verb == "list", Request: "POST review"})
	}
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
	assert.Contains(t, found.Missing, "deployment cert-manager/cert-manager-webhook runs, and may be cert-manager or a part of it")
	assert.Equal(t, "kubectl -n cert-manager scale deployment/cert-manager --replicas=1", found.Do[0])
	assert.NotContains(t, lines, "cainjector")
	assert.NotContains(t, lines, "patch", "its removal is not offered")
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

// secrets is a held object of a listed owner.
func secrets(workloads ...why.Workload) why.Evidence {
	return orphan("pushsecrets", "external-secrets.io", "pushsecret.externalsecrets.io/finalizer", "", workloads...)
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

// While a pod runs that may update the type, by a rule that names it, that may be the owner.
func TestAnotherProgramMayRemoveTheFinalizer(t *testing.T) {
	stopped := since("deployment", "keda-operator", 0, time.Hour)
	engine := why.Service{Namespace: "engine", Name: "engine"}
	for name, test := range map[string]struct {
		e         why.Evidence
		grant     why.Grant
		certainty why.Certainty
	}{
		"a right to the type by a rule for all groups": {orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "", since("deployment", "keda-operator", 0, time.Hour)),
			why.Grant{Service: engine, Group: "*", Resources: []string{"scaledobjects"}, Pods: 1}, why.Possible},
		"a right to another type": {held(stopped), why.Grant{Service: engine, Group: "*", Resources: []string{"topics"}, Pods: 1}, why.Proven},
		"a listed owner beside a right to everything": {orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "", since("deployment", "keda-operator", 0, time.Hour)),
			why.Grant{Service: engine, Group: "*", Resources: []string{"*"}, Pods: 1}, why.Possible},
		"a listed owner beside a right to its group": {orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "", since("deployment", "keda-operator", 0, time.Hour)),
			why.Grant{Service: engine, Group: "keda.sh", Resources: []string{"*"}, Pods: 1}, why.Possible},
	} {
		t.Run(name, func(t *testing.T) {
			test.e.Grants.Items = append(test.e.Grants.Items, test.grant)
			found, lines := advice(t, test.e, "C04")
			assert.Equal(t, test.certainty, found.Certainty, found.Missing)
			assert.Equal(t, test.certainty == why.Proven, strings.Contains(lines, "last resort"))
			assert.Contains(t, lines, "--replicas=1")
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

// The rights of an account are no trace of a listed owner, not even those of its own: a controller
// outside the cluster may use the account's token.
func TestTheRightsOfAnAccount(t *testing.T) {
	e := orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "")
	for _, account := range []why.Service{{Namespace: "ci", Name: "deployer"}, {Namespace: "keda", Name: "keda-operator"}} {
		e.Grants.Items = []why.Grant{{Service: account, Group: "keda.sh", Resources: []string{"*"}}}
		assert.Equal(t, why.Possible, find(why.Judge(e), "C04").Certainty, account)
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

// An owner that ran in the namespace has taken all but its rights with it.
func TestAnOwnerWhoseTracesWereInTheNamespace(t *testing.T) {
	e := orphan("kafkatopics", "kafka.strimzi.io", "strimzi.io/topic-operator", "")
	e.Grants.Items = []why.Grant{grantOf("kafka.strimzi.io", "shop")}
	found := find(why.Judge(e), "C05")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty, "any program of the namespace may have such rights")
	e.Grants.Items[0].Service.Name = "topic-operator"
	found = find(why.Judge(e), "C05")
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)

	rook := orphan("cephclusters", "ceph.rook.io", "cephcluster.ceph.rook.io", "")
	rook.Grants.Items = []why.Grant{{Service: why.Service{Namespace: "shop", Name: "rook-ceph-system"}, Group: "ceph.rook.io", Resources: []string{"*"}}}
	assert.Equal(t, why.Proven, find(why.Judge(rook), "C05").Certainty, "its account is called otherwise")

	e.Workloads.Items = []why.Workload{{Kind: "deployment", Namespace: "ops", Name: "topic-operator"}}
	stopped, _ := advice(t, e, "C05")
	assert.Equal(t, "run the topic operator of Strimzi in another namespace until the objects are gone", stopped.Do[0])
}

// A Lease of another program may have the letters of an owner's name.
func TestALeaseWithTheLettersOfAnOwner(t *testing.T) {
	e := orphan("machines", "cluster.x-k8s.io", "machine.cluster.x-k8s.io", "")
	for lease, certainty := range map[string]why.Certainty{
		"landscapist": why.Possible, "leader-election-capi": why.Proven, "leader.capi": why.Proven, "capital": why.Possible,
	} {
		e.AllLeases.Items = []why.Lease{{Namespace: "web", Name: lease, Holder: "x", Renewed: deleted}}
		assert.Equal(t, certainty, find(why.Judge(e), "C04").Certainty, lease)
	}
	e.AllLeases.Items[0] = why.Lease{Namespace: "web", Name: "5fc7db5a", Holder: "capi_1f2e", Renewed: deleted}
	assert.Equal(t, why.Proven, find(why.Judge(e), "C04").Certainty)
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
	assert.Equal(t, &why.Party{Name: "auditor", Verdict: "slow"}, found.Owner)
	assert.NotContains(t, lines, "patch")
	assert.NotContains(t, lines, "last resort")
}
