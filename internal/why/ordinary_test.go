package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page has ordinary situations in which a cause stays proven: a doubt would be out of place.

// A kube-controller-manager that crashes again and again is not starting.
func TestAManagerThatCrashes(t *testing.T) {
	e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	e.Namespace.Deleted, e.Second.Namespace.Deleted = at.Add(-3*time.Hour), at.Add(-3*time.Hour)
	e.APIServices, e.Elsewhere = answered[why.APIService]("GET apiservices"), answered[why.ConditionsWrite]("GET namespaces")
	e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: at.Add(-100 * time.Hour), Since: at.Add(-4 * time.Minute)})
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-4 * time.Hour), Duration: 15 * time.Second})
	assert.Equal(t, why.Proven, certainty(e, "C19"))
	e.Leases.Items[0].Renewed = at.Add(-5 * time.Minute)
	assert.Equal(t, why.Possible, certainty(e, "C19"), "it ran five minutes ago")
}

// A user without the right to nodes is told what the namespace probably waits for.
func TestAPossibleWait(t *testing.T) {
	pod := object("a")
	pod.Deleted = later.Add(5 * time.Minute)
	e := calm(evidence(terminating("", ""), typeOf("", "pods", pod)))
	e.Pods = []why.Pod{{Object: pod, Node: "n", Grace: 900}}
	e.Nodes = why.Answer[why.Node]{Request: "GET nodes", Failed: noRight}
	r := why.Judge(e)
	assert.Equal(t, why.Unknown, r.Verdict)
	assert.Contains(t, r.Sentence, "has been terminating for 10m and is possibly waiting: 1 pod may run until")
}

// What only the kubelet's Lease shows is not known without it.
func TestALostNodeWhoseLeaseMayNotBeRead(t *testing.T) {
	e := calm(onNode(why.Node{Name: "n", Ready: "Unknown", Since: deleted}))
	require.Equal(t, why.Proven, certainty(e, "C11"))
	e.NodeLeases = why.Answer[why.Lease]{Request: "GET leases", Failed: noRight}
	assert.Equal(t, why.Possible, certainty(e, "C11"))
}

// A finalizer of the namespace that goes says nothing about a pod that hangs.
func TestAFinalizerThatGoesBesideAnOverduePod(t *testing.T) {
	e := calm(onNode(why.Node{Name: "n", Ready: "True"}))
	e.Pods[0].Running = []string{"c"}
	e.Namespace.Finalizers = []string{"controller.cattle.io/namespace-auth"}
	assert.Equal(t, why.Unknown, why.Judge(e).Verdict)
}
