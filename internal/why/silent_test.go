package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
)

// This page tests what no condition reports: an absent controller, and the refusal of some
// requests.

// A namespace without any condition proves that no controller works only if one is seen to be off
// or dead, and nothing shows that another one is at work.
func TestANamespaceWithoutConditions(t *testing.T) {
	off := why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace"}
	lease := func(renewed time.Time) why.Lease {
		return why.Lease{Namespace: "kube-system", Name: "kube-controller-manager", Holder: "kcm_1", Renewed: renewed,
			Duration: 15 * time.Second}
	}
	pod := func(end time.Duration) why.Pod {
		p := object("p")
		p.Deleted = deleted.Add(end)
		return why.Pod{Object: p, Grace: 30}
	}
	forbidden := &why.Failure{Code: 403, Message: "no", Right: "list leases"}
	guard := why.Service{Namespace: "guard", Name: "guard"}
	dead := func(e *why.Evidence) {
		e.Webhooks = answered("GET webhooks", why.Webhook{
			Resource: "validatingwebhookconfigurations", Configuration: "guard", Name: "guard.io", FailurePolicy: "Fail", Service: &guard,
			Rules: []why.Rule{{Operations: []string{"UPDATE"}, Groups: []string{""},
				Resources: []string{"namespaces/*"}}},
		})
		e.Backends = []why.Backend{{Service: guard, Request: "GET service"}}
	}
	isOff := func(e *why.Evidence) { e.Managers.Items = []why.Manager{off} }
	for name, test := range map[string]struct {
		change  func(*why.Evidence)
		missing string // empty: it is proven
	}{
		"switched off": {isOff, ""},
		"its process is dead": {func(e *why.Evidence) {
			e.Managers.Items, e.Leases.Items = []why.Manager{{Name: "kcm"}}, []why.Lease{lease(at.Add(-time.Hour))}
		}, ""},
		"nothing of it is seen": {func(*why.Evidence) {}, "no controller is known to be dead or switched off"},
		"its Leases are unread": {func(e *why.Evidence) {
			e.Leases = why.Answer[why.Lease]{Request: "GET leases",
				Failed: forbidden}
		}, "no controller is known"},
		"its pods are unread": {func(e *why.Evidence) {
			e.Managers = why.Answer[why.Manager]{Request: "GET pods",
				Failed: forbidden}
		}, "no controller is known"},
		"its Lease is renewed": {func(e *why.Evidence) { e.Leases.Items = []why.Lease{lease(at)} },
			"Lease kube-system/kube-controller-manager is renewed"},
		"its pod is ready": {func(e *why.Evidence) {
			e.Managers.Items = []why.Manager{{Name: "kcm",
				Ready: true}}
		}, "pod kcm is ready"},
		"an object was deleted since": {func(e *why.Evidence) {
			isOff(e)
			e.Types[0] = typeOf("", "configmaps", object("a", "example.com/x"))
		}, "configmaps/a has been terminating since"},
		"a pod was deleted since": {func(e *why.Evidence) { isOff(e); e.Pods = []why.Pod{pod(40 * time.Second)} },
			"pods/p has been terminating since"},
		"a pod was deleted before": {func(e *why.Evidence) { isOff(e); e.Pods = []why.Pod{pod(20 * time.Second)} }, ""},
		"another namespace was written to": {func(e *why.Evidence) {
			isOff(e)
			e.Elsewhere = answered("GET namespaces",
				why.ConditionsWrite{Namespace: "busy", At: deleted.Add(time.Minute)})
		}, "wrote the conditions of busy"},
		"another one was written to before": {func(e *why.Evidence) {
			isOff(e)
			e.Elsewhere = answered("GET namespaces",
				why.ConditionsWrite{Namespace: "old", At: deleted.Add(-time.Minute)})
		}, ""},
		"switched off, and without its right": {func(e *why.Evidence) {
			isOff(e)
			e.Reviews = []why.Review{{User: "system:serviceaccount:kube-system:namespace-controller", Verb: "update",
				Resource: "namespaces/status"}}
		}, ""},
		"its pod is ready, and does other work": {func(e *why.Evidence) {
			on := why.Manager{Name: "kcm-b", Controllers: "*"}
			e.Managers.Items = []why.Manager{{Name: "kcm-a", Ready: true, Controllers: "*,-namespace"}, on}
		}, "no controller is known to be dead or switched off"},
		"a dead webhook beside a dead controller": {func(e *why.Evidence) { isOff(e); dead(e) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
			e.Leases, e.Managers = answered[why.Lease]("GET leases"), answered[why.Manager]("GET pods")
			test.change(&e)
			found := find(why.Judge(e), "C19")
			require.NotNil(t, found)
			if test.missing == "" {
				assert.Equal(t, why.Proven, found.Certainty, found.Missing)
				return
			}
			assert.Equal(t, why.Possible, found.Certainty)
			require.NotEmpty(t, found.Missing)
			assert.Contains(t, found.Missing[0], test.missing)
			if e.Leases.Failed != nil || e.Managers.Failed != nil {
				assert.NotNil(t, find(why.Judge(e), "C30"), "the missing right is named")
			}
		})
	}
	alive := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	alive.Leases = answered("GET leases", lease(at))
	dead(&alive)
	report := why.Judge(alive)
	assert.Nil(t, find(report, "C19"), "a controller is alive, and a dead webhook keeps it from writing")
	require.NotNil(t, find(report, "C07"))
	assert.Contains(t, report.Sentence, "the webhook guard.io cannot be reached")

	alive.Webhooks.Items = nil
	alive.Reviews = []why.Review{{User: "system:serviceaccount:kube-system:namespace-controller", Verb: "update",
		Resource: "namespaces/status"}}
	found := find(why.Judge(alive), "C19")
	assert.Equal(t, "a namespace controller is alive, and has written nothing here", found.Says)
	assert.Contains(t, found.Do[0], "restore the ClusterRole system:controller:namespace-controller")
	alive.Reviews[0].Allowed = true
	assert.Equal(t, []string{"read the controller's log: it says what refuses or delays its requests"},
		find(why.Judge(alive), "C19").Do)
}

// A controller that is off stays off while another program writes annotations.
func TestAnAbsentControllerOfAnAnnotatedNamespace(t *testing.T) {
	e := withManagers(why.Manager{Name: "kcm", Ready: true, Controllers: "*,-namespace"})
	e.Second.Namespace.ResourceVersion = "8"
	assert.Equal(t, why.Proven, find(why.Judge(e), "C19").Certainty)
	e.Second.Namespace.Conditions = nil
	assert.Nil(t, find(why.Judge(e), "C19"), "a controller wrote the conditions")
}

// An empty entry of --controllers names no controller, not even one without an older name.
func TestAnEmptyEntryOfTheControllersFlag(t *testing.T) {
	for _, controller := range []string{"namespace-controller", "ttl-controller"} {
		assert.True(t, why.SwitchedOff([]string{"", "deployment"}, controller), controller)
		assert.False(t, why.SwitchedOff([]string{"", "*"}, controller), controller)
	}
}
