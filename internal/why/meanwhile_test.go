package why_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// What happened between the samples, or a moment before the first one.

// removals are the printed commands of a cause that lose something.
func removals(e why.Evidence, id string) (all []string) {
	for _, f := range why.Judge(e).Findings {
		for _, r := range f.Remedies {
			if f.ID == id && r.Loses != "" {
				all = append(all, r.Command)
			}
		}
	}
	return all
}

// The kubelet acts: the pod has changed between the samples.
func TestPodThatTheKubeletWorksOn(t *testing.T) {
	e := onNode(why.Node{Name: "n", Ready: "True"})
	e.Pods[0].Deleted = later.Add(-65 * time.Second)
	e.Types[0].Objects[0].Deleted = e.Pods[0].Deleted
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	again := e.Types[0].Objects[0]
	again.ResourceVersion = "99"
	e.Second.Types[0].Objects = []why.Object{again}
	e = calm(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C12"))
}

// A kubelet that died 45 s ago: judged by the time of the first sample its Lease has not expired.
func TestLeaseOfAKubeletByTheSecondSample(t *testing.T) {
	e := onNode(why.Node{Name: "n", Ready: "True"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later.Add(-45 * time.Second), Duration: 40 * time.Second})
	e = calm(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C12"))
}

// The content went between the samples; the owners of the other entries have had no time yet.
func TestTokensOfANamespaceThatWasJustEmptied(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = []string{"kubernetes", "example.com/token"}, []string{"example.com/audit"}
	e := evidence(n)
	e = calm(e)
	e.Second.Namespace.ResourceVersion, e.Second.Namespace.SpecFinalizers = "8", []string{"example.com/token"}
	r := why.Judge(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C16"))
	assert.NotEqual(t, why.Proven, certainty(e, "C18"))
	assert.Empty(t, removals(e, "C18"))
	assert.NotEqual(t, why.Stuck, r.Verdict, r.Sentence)
}

// The last object went 12 s ago: NamespaceContentRemaining has been False since then.
func TestNamespaceThatWasEmptiedSecondsAgo(t *testing.T) {
	n := terminating("", "")
	n.SpecFinalizers, n.Finalizers = []string{"example.com/token"}, []string{"example.com/audit"}
	n.Conditions = []api.NamespaceCondition{{Type: api.NamespaceContentRemaining, Status: api.ConditionFalse, LastTransitionTime: api.NewTime(later.Add(-12 * time.Second))}}
	e := evidence(n)
	assert.NotEqual(t, why.Proven, certainty(e, "C16"))
	assert.NotEqual(t, why.Proven, certainty(e, "C18"))
	assert.Empty(t, removals(e, "C18"))
}

// A controller without a Lease has written the conditions between the samples; an old Lease and a
// pod that is not Ready are there.
func TestConditionsWrittenBetweenTheSamples(t *testing.T) {
	e := orphanPod()
	e.Managers = answered("GET pods", why.Manager{Name: "kube-controller-manager-a", Created: deleted.Add(-time.Hour)})
	e.Leases = answered("GET leases", why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "a_1", Renewed: at.Add(-time.Hour), Duration: 15 * time.Second})
	e.Second.Namespace.Writers = []why.Writer{{Manager: "kube-controller-manager", At: at.Add(5 * time.Second)}}
	e.Second.Namespace.ResourceVersion = "9"
	assert.NotEqual(t, why.Stopped, find(why.Judge(e), "C13").Owner.State)
}

// kube-root-ca.crt is created again by kube-controller-manager: that is not something that creates
// objects.
func TestRootCertificateBesideAYoungObject(t *testing.T) {
	young, root := object("young", "example.com/x"), object("kube-root-ca.crt")
	young.Created, root.Created, root.UID = deleted.Add(8*time.Second), at.Add(2*time.Second), "new"
	e := calm(evidence(terminating("", ""), typeOf("", "configmaps", young)))
	e.Second.Types = []why.Type{typeOf("", "configmaps", young, root)}
	assert.NotEqual(t, why.Proven, certainty(e, "C28"))
}

// A kubelet that renews its Lease is alive, whatever the node's condition says.
func TestNodeThatIsUnknownAndRenewsItsLease(t *testing.T) {
	e := onNode(why.Node{Name: "n", Ready: "Unknown"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	assert.NotEqual(t, why.Proven, certainty(calm(e), "C11"))
}

// A pod two seconds past its grace period still mounts a claim, on a server that deletes all types
// at once.
func TestClaimOfAPodThatJustEnds(t *testing.T) {
	pod := object("web-0")
	pod.Deleted = later.Add(-2 * time.Second)
	claim := object("data", "kubernetes.io/pvc-protection")
	e := calm(evidence(terminating("", ""), typeOf("", "pods", pod), typeOf("", "persistentvolumeclaims", claim)))
	e.Server = "v1.31.4"
	e.Pods = []why.Pod{{Object: pod, Node: "n", Claims: []string{"data"}, Grace: 30}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	e.Managers = answered("GET pods", why.Manager{Name: "kcm", Ready: true})
	e.Leases = answered[why.Lease]("GET leases")
	r := why.Judge(e)
	assert.NotEqual(t, why.Proven, certainty(e, "C14"))
	assert.NotEqual(t, why.Stuck, r.Verdict, r.Sentence)
}

// A pod that is not terminating yet and mounts a claim that was deleted earlier: the controller
// comes to it in its next pass.
func TestClaimOfAPodThatIsNotDeletedYet(t *testing.T) {
	pod := object("web-0")
	e := evidence(terminating("", ""), typeOf("", "pods", pod), typeOf("", "persistentvolumeclaims", object("data", "kubernetes.io/pvc-protection")))
	e.At, e.Second.At = deleted.Add(5*time.Second), deleted.Add(15*time.Second)
	e.Pods = []why.Pod{{Object: pod, Node: "n", Claims: []string{"data"}, Running: []string{"c"}}}
	assert.NotEqual(t, why.Stuck, why.Judge(e).Verdict, why.Judge(e).Sentence)
}

// A group version that was lost between the samples is possible.
func TestAGroupVersionThatWasLostMeanwhile(t *testing.T) {
	e := unavailable("x")
	e.Discovery.Stale, e.Discovery.Failed = nil, nil
	assert.Contains(t, find(why.Judge(e), "C01").Missing, "it could be discovered in the first sample")
	assert.Equal(t, []string{"g.io/v1"}, e.Stale())
	e.Second.Stale, e.Second.Failed = nil, map[string]string{}
	assert.Empty(t, e.Stale())
}

// What else changed lately gives an owner no time: other conditions, and content that came.
func TestConditionsThatGiveAnOwnerNoTime(t *testing.T) {
	for _, c := range []api.NamespaceCondition{
		{Type: discoveryFailure, Status: api.ConditionFalse}, {Type: api.NamespaceContentRemaining, Status: api.ConditionTrue},
	} {
		n := terminating("", "")
		c.LastTransitionTime = api.NewTime(later.Add(-12 * time.Second))
		n.SpecFinalizers, n.Conditions = []string{"example.com/token"}, []api.NamespaceCondition{c}
		assert.Equal(t, why.Proven, certainty(evidence(n), "C18"), c.Type)
	}
}

// A node that does not answer, and whose Lease has expired, is lost.
func TestANodeWhoseLeaseHasExpired(t *testing.T) {
	e := onNode(why.Node{Name: "n", Ready: "Unknown"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: at.Add(-time.Hour), Duration: 40 * time.Second})
	assert.Equal(t, why.Proven, certainty(calm(e), "C11"))
}

// A pod that nobody deletes keeps its claim.
func TestAClaimOfAPodThatIsNotDeleted(t *testing.T) {
	pod := object("web-0")
	e := calm(evidence(terminating("", ""), typeOf("", "pods", pod), typeOf("", "persistentvolumeclaims", object("data", "kubernetes.io/pvc-protection"))))
	e.Pods = []why.Pod{{Object: pod, Node: "n", Claims: []string{"data"}, Running: []string{"c"}}}
	assert.Equal(t, why.Proven, certainty(e, "C14"))
}

// What may not be read of other servers says nothing about the types of kube-apiserver.
func TestABuiltInTypeThatIsNotDeleted(t *testing.T) {
	for group, expected := range map[string]why.Certainty{"apps": why.Proven, "agg.io": why.Possible} {
		e := evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: shop for gvr: "+group+"/v1, Resource=things"),
			typeOf(group, "things", object("a")))
		e.APIServices = why.Answer[why.APIService]{Request: "GET apiservices", Failed: noRight}
		assert.Equal(t, expected, certainty(e, "C22"), group)
	}
}

// On a server that does not wait for pods nothing is deleted later than they are.
func TestWhatWaitsForPods(t *testing.T) {
	for server, expected := range map[string]why.Certainty{"v1.36.3": why.Later, "v1.30.2": ""} {
		e := held(since("deployment", "keda-operator", 0, time.Hour))
		e.Server = server
		e.Types[0].Objects = slices.Clone(e.Types[0].Objects)
		e.Types[0].Objects[0].Deleted = time.Time{}
		e.Types = append(e.Types, typeOf("", "pods", object("p")))
		e.Second.Types = slices.Clone(e.Types)
		e.Pods = []why.Pod{{Object: object("p"), Node: "n"}}
		assert.Equal(t, expected, certainty(calm(e), "C04"), server)
	}
}
