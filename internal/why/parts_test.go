package why_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has what may be the owner, or another part of it, or what was not read of it.

// While the owner itself is stopped, another part of it that runs is no sign that it works,
// whatever their image is called.
func TestAnotherPartOfAStoppedOwner(t *testing.T) {
	e := orphan("challenges", "acme.cert-manager.io", "acme.cert-manager.io/finalizer", "",
		since("deployment", "cert-manager", 0, time.Hour), workload("deployment", "ops", "issuer", 1, "cert-manager"))
	e.Grants.Items = []why.Grant{{Service: why.Service{Namespace: "ops", Name: "default"}, Group: "acme.cert-manager.io", Resources: []string{"*"}}}
	found, lines := advice(t, e, "C04")
	assert.Equal(t, why.Possible, found.Certainty)
	assert.Equal(t, []string{"deployment ops/issuer runs, and may be cert-manager or a part of it"}, found.Missing)
	assert.Contains(t, lines, "kubectl -n ops scale deployment/cert-manager --replicas=1")
	e.Workloads.Items[0].Ready = 1
	assert.Nil(t, find(why.Judge(e), "C04"), "the owner runs")
	e.Workloads.Items = e.Workloads.Items[1:]
	assert.Nil(t, find(why.Judge(e), "C04"), "its program runs under another name")

	for name, test := range map[string]struct {
		w      why.Workload
		atWork bool
	}{
		"a Helm release":   {workload("deployment", "ops", "team-cert-manager", 1), false},
		"another part":     {workload("deployment", "ops", "cert-manager-cainjector", 1), false},
		"a pod of its own": {workload(why.PodKind, "ops", "cert-manager-cp1", 1), false},
	} {
		e.Workloads.Items = []why.Workload{test.w}
		assert.Equal(t, test.atWork, find(why.Judge(e), "C04") == nil, name)
	}
	e.Workloads.Items = []why.Workload{workload("deployment", "ops", "cert-manager-cainjector", 0), workload(why.PodKind, "ops", "cert-manager-cainjector-5c9", 1)}
	assert.NotNil(t, find(why.Judge(e), "C04"), "the pod belongs to another part")
}

// While the owner itself is stopped, a renewed Lease with its name may be that of another part.
func TestALeaseOfAnotherPart(t *testing.T) {
	e := held(since("deployment", "keda-operator", 0, time.Hour))
	e.AllLeases.Items = []why.Lease{{Namespace: "kube-system", Name: "keda-operator-metrics", Holder: "a", Renewed: at, Duration: time.Minute}}
	found := find(why.Judge(e), "C04")
	require.NotNil(t, found)
	assert.Equal(t, []string{"Lease kube-system/keda-operator-metrics is renewed, and may be that of the owner or of a part of it"}, found.Missing)
	e.Workloads.Items = nil
	assert.Nil(t, find(why.Judge(e), "C04"))
}

// What was not read may be against a proof.
func TestAProofOfWhichAPartWasNotRead(t *testing.T) {
	refused := &why.Failure{Code: 403, Right: "list"}
	for name, fail := range map[string]func(*why.Evidence){
		"the Leases of nodes": func(e *why.Evidence) { e.NodeLeases.Failed = refused },
		"the webhooks":        func(e *why.Evidence) { e.Webhooks.Failed = refused },
		"the policies":        func(e *why.Evidence) { e.Policies.Failed = refused },
	} {
		e := onNode(why.Node{Name: "n", Ready: "True"})
		require.Equal(t, why.Proven, find(why.Judge(e), "C12").Certainty)
		fail(&e)
		assert.Equal(t, why.Possible, find(why.Judge(e), "C12").Certainty, name)
	}
	w := workload("deployment", "es", "external-secrets", 1)
	e := secrets(w)
	refuse(&e, w)
	require.Equal(t, why.Proven, find(why.Judge(e), "C06").Certainty)
	e.Grants.Failed = refused
	assert.Equal(t, why.Possible, find(why.Judge(e), "C06").Certainty)
}

// No pod starts in a terminating namespace: what was there is run elsewhere.
func TestAProgramInAnotherTerminatingNamespace(t *testing.T) {
	orphaned, group, webhook := held(since("deployment", "keda-operator", 0, time.Hour)), undiscovered("ops"), unreachable()
	for id, test := range map[string]struct {
		e    why.Evidence
		in   string
		want string
	}{
		"C04": {orphaned, "ops", "run keda-operator in another namespace until the objects are gone: ops is terminating, too"},
		"C01": {group, "ops", "run the server in another namespace, and set spec.service of APIService v1.g.io to it: ops is terminating, too"},
		"C07": {webhook, "guard", "run the server behind Service guard/guard in another namespace, and name its Service there: guard is terminating, too"},
	} {
		test.e.Terminating = []string{"shop"}
		assert.NotEqual(t, test.want, find(why.Judge(test.e), id).Do[0])
		test.e.Terminating = []string{test.in, "shop"}
		found, lines := advice(t, test.e, id)
		assert.Equal(t, test.want, found.Do[0], id)
		assert.NotContains(t, lines, "--replicas=1")
	}
}

func TestThePageIsThatOfTheCatalogue(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate/stuck-namespaces.md")
	require.NoError(t, err)
	assert.Equal(t, why.Page(), string(page), "run: go generate ./internal/why")
}
