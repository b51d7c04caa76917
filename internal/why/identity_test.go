package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page tests what shows who the owner of a finalizer is, and whether it ran in the namespace.

// What a namespace is called says nothing about the accounts in it.
func TestANamespaceWithTheNameOfAnOwner(t *testing.T) {
	e := orphan("queues", "example.com", "example.com/x", "inner-operator")
	e.Name, e.Grants.Items = "inner-operator", []why.Grant{grantOf("example.com", "inner-operator")}
	found := find(why.Judge(e), "C05")
	require.NotNil(t, found)
	assert.Equal(t, why.Possible, found.Certainty, "any program of the namespace may have such rights")
}

// The programs of a listed owner are parts of one: they do not compete.
func TestAListedOwnerWithSeveralPrograms(t *testing.T) {
	e := orphan("kafkatopics", "kafka.strimzi.io", "strimzi.io/topic-operator", "", since("deployment", "entity-operator", 0, time.Hour))
	found, lines := advice(t, e, "C04")
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)
	assert.Contains(t, lines, "kubectl -n ops scale deployment/entity-operator --replicas=1")
}

// A workload may have a short name that is a part of the owner's.
func TestAWorkloadWithAShortName(t *testing.T) {
	e := orphan("dbs", "acme.io", "acme.io/db", "dbop-operator", workload("deployment", "ops", "dbop", 1))
	e.AllLeases.Items = []why.Lease{{Namespace: "ops", Name: "dbop-operator", Holder: "a", Renewed: deleted.Add(-time.Hour)}}
	found := find(why.Judge(e), "C04")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Missing, "deployment ops/dbop runs, and may be dbop-operator or a part of it")
}

// Managers may have capitals, and names of Kubernetes have none.
func TestAnOwnerWithCapitals(t *testing.T) {
	e := orphan("queues", "example.com", "example.com/x", "QueueOperator")
	e.AllLeases.Items = []why.Lease{{Namespace: "ops", Name: "queueoperator-leader", Holder: "a", Renewed: at, Duration: 15 * time.Second}}
	assert.Nil(t, find(why.Judge(e), "C04"), "its Lease is renewed")
}

// An owner that may still patch can remove its finalizer, and a review that failed refuses nothing.
func TestAnOwnerThatIsNotRefused(t *testing.T) {
	w := workload("deployment", "es", "external-secrets", 1)
	for name, change := range map[string]func(*why.Review){
		"it may patch":      func(r *why.Review) { r.Allowed = true },
		"the review failed": func(r *why.Review) { r.Failed = &why.Failure{Code: 403, Message: "no"} },
	} {
		e := secrets(w)
		refuse(&e, w)
		require.NotNil(t, find(why.Judge(e), "C06"))
		change(&e.Reviews[1])
		assert.Nil(t, find(why.Judge(e), "C06"), name)
	}
}

// Another object may have the name of a Service.
func TestAnObjectWithTheNameOfAService(t *testing.T) {
	e := balanced()
	e.Stamps = append([]why.Stamp{{Type: "queues.example.com", Object: "a", Finalizer: "example.com/x"}}, e.Stamps...)
	assert.NotNil(t, find(why.Judge(e), "C15"))
}

// A workload in the namespace itself is not one that runs elsewhere.
func TestAWorkloadThatIsLeftInTheNamespace(t *testing.T) {
	e := orphan("queues", "example.com", "example.com/x", "inner-operator", why.Workload{Kind: "deployment", Namespace: "shop", Name: "inner-operator"})
	e.Grants.Items = []why.Grant{grantOf("example.com", "shop")}
	require.NotNil(t, find(why.Judge(e), "C05"))
	assert.Nil(t, find(why.Judge(e), "C04"))
}

// Another part of the owner with the same account lacks the same rights.
func TestAnotherPartWithTheSameAccount(t *testing.T) {
	w := workload("deployment", "es", "external-secrets", 1)
	e := secrets(w, workload("deployment", "es", "external-secrets-webhook", 1))
	refuse(&e, w)
	found := find(why.Judge(e), "C06")
	require.NotNil(t, found)
	assert.Equal(t, why.Proven, found.Certainty, found.Missing)
	e.Workloads.Items[1].ServiceAccount = "webhook"
	assert.Nil(t, find(why.Judge(e), "C06"))
}

// A live Lease counts, also beside one that has just expired.
func TestALiveLeaseBesideAnExpiredOne(t *testing.T) {
	e := held()
	old := why.Lease{Namespace: "ops", Name: "keda-operator-old", Holder: "a", Renewed: at.Add(-time.Minute), Duration: 15 * time.Second}
	live := why.Lease{Namespace: "ops", Name: "keda-operator", Holder: "a", Renewed: at, Duration: 15 * time.Second}
	e.AllLeases.Items = []why.Lease{live, old}
	assert.Nil(t, find(why.Judge(e), "C04"))
	e.AllLeases.Items = []why.Lease{old, live}
	assert.Nil(t, find(why.Judge(e), "C04"))
}

// The name of a driver's sidecar is that of many drivers: one that is stopped says nothing about
// another.
func TestProgramsThatManyHave(t *testing.T) {
	e := orphan("persistentvolumeclaims", "", "provisioner.storage.kubernetes.io/cloning-protection", "", since("deployment", "csi-provisioner", 0, time.Hour))
	found := find(why.Judge(e), "C04")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Contains(t, found.Missing[0], "several programs are called csi-provisioner: which of them removes provisioner.storage.kubernetes.io/cloning-protection is not known")
}

// A part of a listed owner that only has its words is no trace of it, and no sign of its life.
func TestAPartWithTheWordsOfAnOwner(t *testing.T) {
	updater := orphan("applications", "argoproj.io", "resources-finalizer.argocd.argoproj.io", "", since("deployment", "argocd-image-updater", 0, time.Hour))
	assert.Equal(t, why.Possible, find(why.Judge(updater), "C04").Certainty)
	metrics := orphan("scaledobjects", "keda.sh", "finalizer.keda.sh", "", workload("deployment", "keda", "keda-operator-metrics-apiserver", 1))
	assert.Contains(t, find(why.Judge(metrics), "C04").Missing[0], "keda-operator-metrics-apiserver runs, and may be keda-operator or a part of it")
}
