package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests the causes about the namespace controller and the entries of the namespace
// itself: C16 to C21.

func managers(all ...why.Manager) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Managers.Items = all }
}

func led(all ...why.Lease) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Leases.Items = all }
}

func reviews(all ...why.Review) func(*why.Evidence) {
	return func(e *why.Evidence) { e.Reviews = all }
}

// C19: a namespace without any condition proves that no controller works only if one is seen to be
// off or dead, and nothing shows that another one is at work.
func TestNoNamespaceController(t *testing.T) {
	bare := func(changes ...func(*why.Evidence)) why.Evidence {
		return with(unmanaged(plain(typeOf("", "configmaps", object("a")))), changes...)
	}
	isOff := managers(kcm("*,-namespace"))
	switchedOff := func(changes ...func(*why.Evidence)) why.Evidence { return with(bare(isOff), changes...) }
	old := lease("kube-controller-manager", time.Hour)
	restarted := func(ago time.Duration) why.Evidence {
		return with(withManagers(why.Manager{Name: "kcm"}), led(lease("kube-controller-manager", ago)))
	}
	writer := func(name string, created time.Time) why.Evidence {
		e := withManagers(kcm("*,-namespace-controller"))
		e.Managers.Items[0].Created = created
		e.Namespace.Writers = []why.Writer{{Manager: name, At: deleted.Add(time.Second)}}
		return e
	}
	k3s := withManagers()
	k3s.Leases.Items = []why.Lease{lease("kube-controller-manager", 24*time.Hour)}
	for _, n := range []*why.Namespace{k3s.Namespace, k3s.Second.Namespace} {
		n.Writers = []why.Writer{{Manager: "k3s", At: deleted.Add(time.Minute)}}
	}
	const unseen = "missing: no controller is known to be dead or switched off"
	const elsewhere = "missing: no pod of kube-controller-manager is visible: it may run elsewhere, without a Lease"
	judged(t, []row{
		is("its process is dead", bare(managers(why.Manager{Name: "kcm"}), led(old)), "C19 proven"),
		is("nothing of it is seen", bare(), "C19 possible", unseen),
		is("its Leases are unread", bare(func(e *why.Evidence) { e.Leases = refused[why.Lease]() }), "C19 possible",
			"missing: no controller is known", "found: C30"),
		is("its pods are unread", bare(func(e *why.Evidence) { e.Managers = refused[why.Manager]() }), "C19 possible",
			"missing: no controller is known", "found: C30"),
		is("its pod is ready, and does other work", bare(managers(kcm("*,-namespace"), why.Manager{Name: "b",
			Controllers: "*"})), "C19 possible", unseen),
		is("switched off, while another program annotates", with(withManagers(kcm("*,-namespace")),
			func(e *why.Evidence) {
				e.Second.Namespace.ResourceVersion = "8"
			}), "C19 proven"),
		once("switched off, while another one writes conditions", withManagers(kcm("*,-namespace")),
			func(e *why.Evidence) {
				e.Second.Namespace.ResourceVersion, e.Second.Namespace.Conditions = "8", nil
			}, "no C19"),
		once("switched off, while another one removes a token", withManagers(kcm("*,-namespace")),
			func(e *why.Evidence) {
				e.Namespace.SpecFinalizers = append(e.Namespace.SpecFinalizers, "example.com/token")
				e.Second.Namespace.ResourceVersion = "8"
			}, "no C19"),
		is("one of several has it switched off", withManagers(kcm("*,-namespace"), why.Manager{Name: "b", Ready: true}),
			"no C19"),
		is("it wrote the conditions before it was switched off", writer("kube-controller-manager", time.Time{}),
			"C19 possible"),
		is("another process of its name wrote the conditions", writer("kube-controller-manager", deleted),
			"C19 possible"),
		is("another program wrote the conditions", writer("orrery", later), "C19 possible"),
		is("its Lease expired 30 s ago", restarted(30*time.Second), "C19 possible"),
		is("its Lease expired 12 min ago", restarted(12*time.Minute), "C19 proven"),
		is("its Lease expired, and no pod of it is visible", with(restarted(2*time.Minute), managers()), "C19 possible",
			elsewhere),
		is("an expired Lease, and conditions that were written since", k3s, "no C19"),
		is("orrery wrote them, and its Lease has expired", with(k3s, managers(why.Manager{Name: "kcm"}), led(old,
			lease("orrery", 6*time.Minute))), "C19 possible", "found: C19 possible leases.coordination.k8s.io/orrery"),
		once("objects go while it is off", switchedOff(), func(e *why.Evidence) {
			e.Second.Types = []why.Type{typeOf("", "configmaps")}
		}, "C19 possible", "only missing: configmaps had 1 object, and 0 after 10s: a controller may be at its first "+
			"pass"),
		once("seconds after the deletion", bare(), func(e *why.Evidence) {
			e.Namespace.Deleted, e.Second.Namespace.Deleted = at.Add(-15*time.Second), at.Add(-15*time.Second)
		}, "no C19"),
	})
	for _, name := range []string{"namespace-controller", "ttl-controller"} { // one without an older name
		assert.True(t, why.SwitchedOff([]string{"", "deployment"}, name), "an empty entry names no controller: %s",
			name)
		assert.False(t, why.SwitchedOff([]string{"", "*"}, name), name)
	}
}

// C20: two controllers contradict each other. One that overwrites all that the other one wrote
// takes its entry of managedFields away. That may also be one that has taken over.
func TestTwoNamespaceControllers(t *testing.T) {
	writes := func(first, second []why.Writer) why.Evidence {
		e := failing("x")
		e.Namespace.Writers, e.Second.Namespace.Writers = first, second
		e.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionFalse}}
		return e
	}
	by := func(manager string, moment time.Time) why.Writer { return why.Writer{Manager: manager, At: moment} }
	before, second := []why.Writer{by("a", at.Add(-2*time.Second))}, later.Add(-time.Second)
	judged(t, []row{
		is("both wrote", writes(nil, []why.Writer{by("a", later), by("b", later.Add(-5*time.Second))}), "C20 proven",
			"verdict: stuck, exit 2"),
		is("one wrote long ago", writes(nil, []why.Writer{by("a", later), by("b", deleted)}), "no C20"),
		is("each sample has one writer", writes(before, []why.Writer{by("b", second)}), "no C20"),
		is("the first one wrote again", writes(before, []why.Writer{by("b", second), by("a", at.Add(time.Second))}),
			"C20 proven"),
		is("the same one has changed its mind", writes(before, []why.Writer{by("a", second)}), "no C20"),
		once("one of them is a person", contradicted(), func(e *why.Evidence) {
			e.Second.Namespace.Writers[1].Manager = "kubectl-edit"
		}, "no C20"),
		once("the later one does not lead any more", contradicted(), func(e *why.Evidence) {
			e.Leases.Items = append(e.Leases.Items, lease("kube-controller-manager", 10*time.Second))
		}, "C20 possible"),
		once("the Leases may not be read", contradicted(), func(e *why.Evidence) { e.Leases = refused[why.Lease]() },
			"C20 possible"),
	})
}

// C21: the controller has lost its rights.
func TestAControllerWithoutRights(t *testing.T) {
	refusal := func(user, verb, resource, group string) string {
		return `x is forbidden: User "` + user + `" cannot ` + verb + ` resource "` + resource +
			`" in API group "` + group + `" in the namespace "shop"`
	}
	refuses := func(group, resource string, texts ...string) why.Evidence {
		return failing(strings.Join(texts, ", "), typeOf(group, resource, object("a")))
	}
	many := func(all ...why.Review) why.Evidence {
		e := failing(strings.Join([]string{refusal(controller, "deletecollection", "configmaps", ""),
			refusal(controller, "deletecollection", "secrets", ""),
			refusal(controller, "deletecollection", "deployments", "apps"), refusal(controller, "list", "pods", "")},
			", "),
			typeOf("", "configmaps", object("a")), typeOf("apps", "deployments", object("d")))
		return with(e, reviews(all...))
	}
	may := func(verb, resource string, allowed bool) why.Review {
		return review(controller, verb, "", resource, allowed)
	}
	lost, restored := may("deletecollection", "configmaps", false), may("list", "pods", true)
	unanswered := lost
	unanswered.Failed = &why.Failure{Code: 500, Message: "no"}
	verbs := func(user string) why.Evidence {
		return with(refuses("", "configmaps", refusal(user, "list", "configmaps", ""), refusal(user, "deletecollection",
			"configmaps", "")), reviews(review(user, "list", "", "configmaps", true),
			review(user, "deletecollection", "", "configmaps", false)))
	}
	judged(t, []row{
		is("one finding for each verb, about the first type", many(lost, restored), "C21 proven",
			"says: user "+controller+" may not deletecollection configmaps\n", "blocks: 1 configmaps: a\n",
			"only found: C21 proven users/"+controller),
		is("a review without an answer does not agree", many(unanswered, restored), "C21 possible"),
		is("nothing was asked", many(), "C21 possible", "found: C21 possible users/"+controller+
			"\nfound: C21 possible users/"+controller+"\n"),
		is("the answer about one verb says nothing about another", verbs("system:u"), "C21 proven",
			"only found: C21 proven users/system:u", "says: user system:u may not deletecollection configmaps\n"),
		is("the groups of a user are not known", verbs("jane"), "C21 possible", "only missing: the groups of user "+
			"jane are not known: one may give it the right"),
		is("restored since", with(refuses("apps", "deployments", refusal("u", "list", "deployments", "apps")),
			reviews(review("u", "list", "apps", "deployments", true))), "no C21"),
	})
	quoted := refusal(`CORP\\ctl \"x\"`, "delete", "configmaps", "")
	assert.Equal(t, []why.Refusal{{User: `CORP\ctl "x"`, Verb: "delete", Resource: "configmaps"}},
		why.Refusals(failing(quoted).Namespace, "shop"), "the API server quotes the name of a user")
}

// C16, C17 and C18: entries of the namespace itself act when it is empty.
func TestEntriesOfTheNamespace(t *testing.T) {
	young := func(e *why.Evidence) {
		e.Namespace.Deleted, e.Second.Namespace.Deleted = at.Add(-15*time.Second), at.Add(-15*time.Second)
	}
	token := func(name string) why.Evidence { return evidence(entries(nil, []string{name})) }
	justEmptied := func() why.Evidence {
		return calm(evidence(entries([]string{"example.com/audit"}, []string{"kubernetes", "example.com/token"})))
	}
	emptiedNow := func(e *why.Evidence) {
		e.Second.Namespace.ResourceVersion, e.Second.Namespace.SpecFinalizers = "8", []string{"example.com/token"}
	}
	since := func(kind api.NamespaceConditionType, status api.ConditionStatus) why.Evidence {
		return conditioned(evidence(entries([]string{"example.com/audit"}, []string{"example.com/token"})),
			condition(kind, status, "", 12*time.Second))
	}
	all := func(types ...why.Type) why.Evidence {
		return unmanaged(evidence(entries([]string{"example.com/audit", "foregroundDeletion"},
			[]string{"kubernetes", "example.com/x"}), types...), kcm("*,-garbagecollector"))
	}
	content := typeOf("", "configmaps", object("a"))
	collector := func(renewed, age time.Duration) why.Evidence {
		return managed(collected(), renewed, why.Manager{Name: "kube-controller-manager-a", Created: later.Add(-age)})
	}
	withoutPods := func(e *why.Evidence) { e.Managers.Items = nil }
	removal := `kubectl patch namespaces shop --type=json -p '[{"op":"test","path":"/metadata/uid","value":"u"},` +
		`{"op":"test","path":"/metadata/resourceVersion","value":"7"},` +
		`{"op":"test","path":"/metadata/finalizers/1","value":"example.com/audit"},` +
		`{"op":"remove","path":"/metadata/finalizers/1"}]'`
	unreadType := evidence(entries(nil, []string{"kubernetes", "example.com/x"}))
	judged(t, []row{
		is("an entry of metadata.finalizers", audited(), "C16 proven",
			"run: only after you have found its owner, and it does not come back: "+removal),
		is("only its status is written", with(audited(), func(e *why.Evidence) {
			e.Second.Namespace.ResourceVersion = "8"
		}), "C16 proven"),
		is("beside content they act later", all(content), "C16 later", "found: C17 later", "found: C18 later"),
		is("beside each other they act", all(), "C16 proven", "found: C17 proven", "found: C18 proven"),
		is("beside what cannot be discovered", with(stale(), func(e *why.Evidence) {
			e.Namespace.Finalizers, e.Second.Namespace.Finalizers = []string{"example.com/audit"},
				[]string{"example.com/audit"}
		}), "C16 possible", "found: C03 proven"),
		once("seconds after the deletion", audited(), young, "C16 possible"),
		is("the collector is off", unmanaged(collected(), kcm("*,-garbagecollector")), "C17 proven"),
		is("a dependent may be outside the namespace", collected(), "C17 possible", "only missing: whether the "+
			"garbage collector works, or which dependent blocks, was not seen"),
		once("the collector runs, 30 s after the deletion", unmanaged(collected(), kcm("")), func(e *why.Evidence) {
			e.At, e.Second.At = deleted.Add(20*time.Second), deleted.Add(30*time.Second)
		}, "no C17"),
		is("an old Lease, and no pod is visible", with(collector(48*time.Hour, 0), withoutPods), "C17 possible",
			"only missing: no pod of kube-controller-manager is visible: it may run elsewhere, without a Lease"),
		is("an old Lease, and a pod that is not ready", collector(48*time.Hour, 48*time.Hour), "C17 proven"),
		is("a Lease of 3 min ago, and a pod that starts", collector(3*time.Minute, 15*time.Second), "C17 possible"),
		is("a pod that has been starting for 3 min", collector(5*time.Minute, 3*time.Minute), "C17 possible"),
		is("a token of another", token("example.com/x"), "C18 proven",
			"do: find the token's owner, and let it remove the token"),
		once("a token beside a type that cannot be read", unreadType, failed(500, "no"), "C18 possible", "!loses: "),
		once("a token, seconds after the deletion", token("example.com/x"), young, "C18 possible"),
		once("the content went between the samples", justEmptied(), emptiedNow, "C18 possible", "!verdict: stuck",
			"found: C16 possible", "!loses: "),
		is("the content went 12 s ago", since(api.NamespaceContentRemaining, api.ConditionFalse), "C18 possible",
			"found: C16 possible", "!loses: "),
		is("a token, and another condition 12 s ago", since(discoveryFailure, api.ConditionFalse), "C18 proven"),
		is("a token, and content that came 12 s ago", since(api.NamespaceContentRemaining, api.ConditionTrue),
			"C18 proven"),
	})
}

// Without the controller's token the namespace does not wait for its content, so nothing that
// keeps the content keeps the namespace.
func TestContentWithoutTheToken(t *testing.T) {
	for id, e := range situations() {
		if slices.Contains([]string{"C16", "C17", "C18", "C19", "C20"}, id) {
			continue // these are about the namespace itself
		}
		report := why.Judge(withoutToken(e))
		require.Len(t, report.Findings, 1, id)
		assert.Equal(t, "C16", report.Findings[0].ID, id)
		assert.Equal(t, why.Proven, report.Findings[0].Certainty, id)
		assert.NotContains(t, report.Sentence, "waits for", id)
	}
}
