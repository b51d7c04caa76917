package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// When a namespace may be said to wait, or to make progress: exit code 0.

// Requests are refused for a type, while another type becomes smaller.
func TestProgressBesideARefusal(t *testing.T) {
	e := evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: etcdserver: mvcc: database space exceeded"),
		typeOf("", "configmaps", object("a")), typeOf("", "endpoints", object("b"), object("c")))
	e.Second.Types[1] = typeOf("", "endpoints", object("b"))
	r := why.Judge(e)
	require.Equal(t, why.Possible, certainty(e, "C27"))
	assert.NotEqual(t, why.Progressing, r.Verdict, r.Sentence)
}

// A type that this user may not list holds what the condition names, while another becomes smaller.
func TestProgressBesideAnUnreadType(t *testing.T) {
	unread := why.Type{Group: "db.io", Version: "v1", Resource: "databases", Request: "GET databases", Failed: noRight}
	e := evidence(terminating(api.NamespaceFinalizersRemaining, "Some content in the namespace has finalizers remaining: db.io/f in 1 resource instances"),
		typeOf("", "configmaps", object("b"), object("c")), unread)
	e.Second.Types = []why.Type{typeOf("", "configmaps", object("b"))}
	r := why.Judge(e)
	assert.Contains(t, r.Sentence, "but db.io/f remains, of what could not be read")
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)

	for unread, exit := range map[string]int{"secrets": why.ExitUnknown, "endpoints": 0} {
		e = evidence(terminating(api.NamespaceContentRemaining, "Some resources are remaining: secrets. has 1 resource instances"),
			typeOf("", "configmaps", object("b"), object("c")), why.Type{Version: "v1", Resource: unread, Request: "GET x", Failed: noRight})
		e.Types = e.Types[:2]
		e.Second.Types = []why.Type{typeOf("", "configmaps", object("b"))}
		assert.Equal(t, exit, why.Judge(e).ExitCode, unread)
	}
}

// A pod that a Ready node has not ended for hours, while others end.
func TestProgressBesideAnOverduePod(t *testing.T) {
	old, young := object("old"), object("young")
	old.Deleted, young.Deleted = deleted.Add(time.Minute), later
	e := calm(evidence(terminating("", ""), typeOf("", "pods", old, young)))
	e.Second.Types = []why.Type{typeOf("", "pods", old)}
	e.Pods = []why.Pod{{Object: old, Node: "n", Running: []string{"c"}}, {Object: young, Node: "n"}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	e.NodeLeases = answered("GET leases", why.Lease{Name: "n", Holder: "n", Renewed: later, Duration: 40 * time.Second})
	r := why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)
}

// The examination ended early: what would be a cause was not read.
func TestProgressInAnExaminationThatEndedEarly(t *testing.T) {
	e := calm(evidence(terminating("", ""), typeOf("", "configmaps", object("b"), object("c", "example.com/x"))))
	e.Second.Types[0] = typeOf("", "configmaps", object("c", "example.com/x"))
	e.Incomplete = "the limit of requests (--max-requests) was reached"
	e.Types[0].Objects = e.Types[0].Objects[:1]
	r := why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)
}

// Pods that may run for an hour do not explain a refusal, on a server that does not wait for them.
func TestGraceBesideARefusal(t *testing.T) {
	waiting := object("slow")
	waiting.Deleted = later.Add(time.Hour)
	e := evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: etcdserver: mvcc: database space exceeded"),
		typeOf("", "pods", waiting), typeOf("", "configmaps", object("a")))
	e.Server = "v1.30.2"
	e.Pods = []why.Pod{{Object: waiting, Node: "n"}}
	e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
	assert.NotEqual(t, 0, why.Judge(e).ExitCode, why.Judge(e).Sentence)
}

// DiscoveryFailure ends, while an owner at work does not finish for days.
func TestDiscoveryWorksAgainBesideAnOwnerThatDoesNotFinish(t *testing.T) {
	e := application()
	require.Equal(t, why.Unknown, why.Judge(e).Verdict)
	e.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionTrue, Message: "Discovery failed: g.io/v1: stale", LastTransitionTime: api.NewTime(at.Add(-time.Minute))}}
	e.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionFalse}}
	e.Second.Namespace.ResourceVersion = "8"
	assert.NotEqual(t, 0, why.Judge(e).ExitCode, "taken back: "+why.Judge(e).Sentence)
	e.Second.Namespace.Conditions = e.Namespace.Conditions
	assert.NotEqual(t, 0, why.Judge(e).ExitCode, "no longer holds: "+why.Judge(e).Sentence)
}

// DiscoveryFailure came between the samples (the server of an APIService went with its pods); the
// types were discovered before.
func TestDiscoveryFailsBetweenTheSamples(t *testing.T) {
	const message = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: g.io/v1: stale GroupVersion discovery: g.io/v1"
	e := evidence(terminating("", ""))
	e.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionFalse}}
	e.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionTrue, Message: message, LastTransitionTime: api.NewTime(at.Add(4 * time.Second))}}
	e.Second.Namespace.ResourceVersion = "8"
	e.APIServices = answered("GET apiservices", why.APIService{
		Name: "v1.g.io", GroupVersion: "g.io/v1", Service: &why.Service{Namespace: "shop", Name: "y"}, Available: "False", Reason: "MissingEndpoints", Since: at.Add(2 * time.Second),
	})
	r := why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, r.Sentence)
	assert.NotContains(t, r.Sentence, "no longer holds")

	e.Namespace.Conditions = e.Second.Namespace.Conditions // it was there before, and its server answered once
	r = why.Judge(e)
	assert.NotEqual(t, 0, r.ExitCode, "flapping: "+r.Sentence)
}

// What a wait explains, or is of no account yet, leaves it a wait.
func TestAWaitThatExplainsTheRest(t *testing.T) {
	waiting := object("slow")
	waiting.Deleted = later.Add(time.Hour)
	for name, change := range map[string]func(*why.Evidence){
		"a refusal in the first minute": func(e *why.Evidence) {
			e.Server, e.At, e.Second.At = "v1.30.2", deleted.Add(20*time.Second), deleted.Add(30*time.Second)
		},
		"a refusal of before the pods": func(*why.Evidence) {},
	} {
		e := evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: etcdserver: mvcc: database space exceeded"), typeOf("", "pods", waiting))
		e.Pods = []why.Pod{{Object: waiting, Node: "n"}}
		e.Nodes = answered("GET nodes", why.Node{Name: "n", Ready: "True"})
		change(&e)
		assert.Equal(t, why.Progressing, why.Judge(e).Verdict, name)
	}
}

// A finalizer of the condition that was seen on objects is not one of what could not be read.
func TestAFinalizerThatWasSeen(t *testing.T) {
	unread := why.Type{Group: "db.io", Version: "v1", Resource: "databases", Request: "GET databases", Failed: noRight}
	e := evidence(terminating(api.NamespaceFinalizersRemaining, "Some content in the namespace has finalizers remaining: db.io/f in 2 resource instances"),
		typeOf("", "configmaps", object("b", "db.io/f"), object("c", "db.io/f")), unread)
	e.Second.Types = []why.Type{typeOf("", "configmaps", object("b", "db.io/f"))}
	assert.Equal(t, 0, why.Judge(e).ExitCode, why.Judge(e).Sentence)
}

// DiscoveryFailure is out of date if the server that it names is Available.
func TestADiscoveryFailureThatNoLongerHolds(t *testing.T) {
	const message = "Discovery failed for some groups, 1 failing: g.io/v1: stale GroupVersion discovery: g.io/v1"
	for available, verdict := range map[string]why.Verdict{"True": why.Progressing, "False": why.Unknown} {
		e := evidence(terminating("", ""))
		e.Namespace.Conditions = []api.NamespaceCondition{{Type: discoveryFailure, Status: api.ConditionTrue, Message: message, LastTransitionTime: api.NewTime(at)}}
		e.Second.Namespace.Conditions = e.Namespace.Conditions
		e.APIServices = answered("GET apiservices", why.APIService{Name: "v1.g.io", GroupVersion: "g.io/v1", Service: &why.Service{Namespace: "a", Name: "y"}, Available: available})
		assert.Equal(t, verdict, why.Judge(e).Verdict, available)
	}
}

// A young namespace in which nothing moved makes no progress that was seen.
func TestTooEarlyToTell(t *testing.T) {
	young := terminating("", "")
	young.Deleted = at.Add(-20 * time.Second)
	e := calm(evidence(young, typeOf("", "configmaps")))
	report := why.Judge(e)
	assert.Equal(t, "Namespace shop has been terminating for 30s: too early to tell.", report.Sentence)
	assert.Equal(t, why.ExitNotStuck, report.ExitCode)
	e.Second = nil
	assert.Contains(t, why.Judge(e).Sentence, "too early to tell")
}
