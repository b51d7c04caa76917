package why_test

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// This page tests what two samples show: a standstill, progress, and the verdict on the whole.

// situations are evidence in which a cause is proven.
func situations() map[string]why.Evidence {
	return map[string]why.Evidence{
		"C01": unavailable("ops"), "C02": unavailable("shop"), "C03": stale(), "C04": held(stopped("keda-operator")),
		"C07": unreachable(), "C08": denied(), "C09": unconverted(), "C11": onNode(),
		"C12": onReadyNode(ending(0, "a")), "C13": leftOver(), "C15": balanced(stopped("cloud-controller-manager")),
		"C16": audited(), "C17": unmanaged(collected(), kcm("*,-garbagecollector")),
		"C18": evidence(entries(nil, []string{"example.com/x"})), "C19": withManagers(kcm("*,-namespace")),
		"C20": contradicted(), "C22": undeleted(), "C23": undecodable(), "C25": defined(),
		"C26": foreground(stopped("keda-operator")), "C28": grows(created(time.Minute, "t"), created(10*time.Minute,
			"next")),
	}
}

// grows is a namespace with an object, and another one in the second sample.
func grows(first, next why.Object) why.Evidence {
	e := plain(typeOf("", "configmaps", first))
	e.Second.Types = []why.Type{typeOf("", "configmaps", first, next)}
	return e
}

// shrinks is a namespace with two objects of a type, of which the second sample has these.
func shrinks(e why.Evidence, group, resource string, left ...why.Object) why.Evidence {
	e = add(e, typeOf(group, resource, object("a"), object("b")))
	e.Second.Types[len(e.Second.Types)-1] = typeOf(group, resource, left...)
	return e
}

// With one sample every cause that something has to be done about is possible only.
func TestOneSampleProvesNothing(t *testing.T) {
	for id, e := range situations() {
		got, lines := told(why.Judge(e), id)
		require.Equal(t, id+" proven", got, lines)
		assert.Contains(t, lines, "verdict: stuck, exit 2")
		e.Second = nil
		for _, f := range why.Judge(e).Findings {
			cause, _ := why.Lookup(f.ID)
			if !cause.Waits && f.Certainty != why.Later {
				assert.Equal(t, why.Possible, f.Certainty, f.ID)
				assert.Contains(t, f.Missing, "only one sample was taken")
			}
			if f.Owner != nil {
				assert.NotContains(t, []why.State{why.Stopped, why.NotHere}, f.Owner.State, "%s is called gone",
					f.Owner.Name)
			}
		}
	}
}

// A cause that was proven in the first sample is possible only, or is none, if the second one does
// not show it again.
func TestWhatTheSecondSampleDoesNotShow(t *testing.T) {
	without := func(fromEnd int) func(*why.Evidence) {
		return func(e *why.Evidence) {
			i := len(e.Second.Types) - fromEnd
			e.Second.Types[i].Objects, e.Second.Types[i].Count = nil, 0
		}
	}
	ofTwo := workflow()
	two := typeOf("argoproj.io", "workflows", object("a", "workflows.argoproj.io/artifact-gc"),
		object("b", "workflows.argoproj.io/artifact-gc"))
	ofTwo.Types[0], ofTwo.Second.Types[0] = two, two
	all := situations()
	judged(t, []row{
		once("the owner acts on another object", ofTwo, func(e *why.Evidence) {
			b := two.Objects[1]
			b.ResourceVersion = "99"
			e.Second.Types[0].Objects = []why.Object{two.Objects[0], b}
		}, "no C06"),
		once("the pod was not reached", all["C13"], func(e *why.Evidence) {
			e.Types[0].Count = 700
			e.Second.Types[0].Objects, e.Second.Types[0].Partial, e.Second.Types[0].Count = nil, true, 700
		}, "C13 possible"),
		once("another pod has lost the finalizer", leftOver(), func(e *why.Evidence) {
			q, free := object("q", jobTracking), object("q")
			free.ResourceVersion, free.Deleted = "99", deleted
			e.Types[0].Objects, e.Types[0].Count = append(slices.Clone(e.Types[0].Objects), q), 2
			e.Second.Types[0].Objects = append(slices.Clone(e.Second.Types[0].Objects), free)
			e.Second.Types[0].Count = 2
		}, "C13 possible"),
		once("the list fails otherwise", all["C23"], func(e *why.Evidence) {
			e.Second.Types[0].Failed = &why.Failure{Request: "GET configmaps", Code: 504, Message: "Timeout"}
		}, "C23 possible"),
		once("the type was not listed again", undecodable(),
			func(e *why.Evidence) { e.Second.Types = e.Second.Types[1:] }, "C23 possible"),
		once("the list works", undecodable(), func(e *why.Evidence) { e.Second.Types[0].Failed = nil }, "C23 possible",
			"only missing: configmaps could be read in the second sample"),
		is("the list fails again while pods are left, which go first", add(undecodable(), typeOf("", "pods",
			object("p"))), "C23 later"),
		is("the list fails again while pods are left, and another type was deleted already", add(undecodable(),
			typeOf("", "pods", object("p")), typeOf("", "services", ending(time.Second, "s"))), "C23 proven"),
		is("a key service that does not answer has lost no data", with(undecodable(), failed(500,
			`unable to transform key `+`"/registry/configmaps/shop/a": failed to decrypt DEK, error: rpc error: code `+
				`= Unavailable desc = `+`dial `+`unix `+`/var/run/kms.sock`)), "C23 proven"),
		once("the objects of the definition could not be listed", all["C25"], func(e *why.Evidence) {
			without(2)(e)
			e.Second.Types[0].Failed = &why.Failure{Code: 404, Message: "gone"}
		}, "C25 possible"),
		once("the owner of the dependent is gone", all["C26"], without(1), "no C26"),
		is("a young object, and another one", grows(created(time.Minute, "t"), created(10*time.Minute, "next")),
			"C28 proven"),
		is("an object of the first seconds", plain(typeOf("", "configmaps", created(3*time.Second, "e"))), "no C28"),
		is("the root certificate, which is created in every namespace", grows(created(8*time.Second, "young",
			"example.com/x"), created(602*time.Second, "kube-root-ca.crt")), "no C28"),
		is("the root certificate again and again", replaced("kube-root-ca.crt", "kube-root-ca.crt"), "no C28"),
		is("objects again and again", replaced("a", "b"), "C28 proven"),
		is("more than was counted at first", with(plain(typeOf("", "configmaps", created(time.Minute, "t"))),
			func(e *why.Evidence) { e.Types[0].More, e.Second.Types[0].Count = true, 900 }), "no C28"),
	})
}

// replaced is a namespace with an object that the second sample has under another uid and name.
func replaced(name, next string) why.Evidence {
	again := created(10*time.Minute+time.Second, next)
	again.UID = "another"
	e := plain(typeOf("", "configmaps", created(10*time.Minute-time.Second, name)))
	e.Second.Types[0].Objects = []why.Object{again}
	return e
}

const exceeded = "etcdserver: mvcc: database space exceeded"

// C27, C29 and the verdict: when a namespace may be said to wait, or to make progress.
func TestVerdicts(t *testing.T) {
	forbidden := why.Type{Group: "db.io", Version: "v1", Resource: "databases", Request: "GET databases",
		Failed: noRight}
	remaining := func(count string) *why.Namespace {
		return terminating(api.NamespaceFinalizersRemaining,
			"Some content in the namespace has finalizers remaining: db.io/f in "+count+" resource instances")
	}
	holds := func(kind api.NamespaceConditionType, message string, ago time.Duration) []api.NamespaceCondition {
		return []api.NamespaceCondition{condition(kind, api.ConditionTrue, message, ago)}
	}
	claims := func(kind api.NamespaceConditionType, message string, ago time.Duration, types ...why.Type) why.Evidence {
		return conditioned(plain(types...), holds(kind, message, ago)...)
	}
	fails := func(message string) []api.NamespaceCondition {
		return holds(contentFailure, message, later.Sub(deleted))
	}
	not := func(kinds ...api.NamespaceConditionType) (all []api.NamespaceCondition) {
		for _, kind := range kinds {
			all = append(all, api.NamespaceCondition{Type: kind, Status: api.ConditionFalse})
		}
		return all
	}
	becomes := func(e why.Evidence, first, second []api.NamespaceCondition) why.Evidence {
		e.Namespace.Conditions, e.Second.Namespace.Conditions, e.Second.Namespace.ResourceVersion = first, second, "8"
		return e
	}
	content := func() why.Evidence { return plain(typeOf("", "configmaps", object("a"))) }
	inGrace := func(text string, change func(*why.Evidence)) why.Evidence {
		e := pods(ending(time.Hour, "slow"))
		e.Nodes = answered("GET nodes", ready)
		return with(says(e, text), change)
	}
	atOnce := func(e *why.Evidence) { // as before Kubernetes 1.33
		*e = add(*e, typeOf("", "services", ending(time.Second, "s", "example.com/x")))
	}
	const noAnswer = "Discovery failed for some groups, 1 failing: g.io/v1: no answer"
	waits := func(change func(*why.Evidence)) why.Evidence {
		e := add(held(stopped("keda-operator")), typeOf("", "pods", object("p")))
		e.Types[0].Objects[0].Deleted = time.Time{}
		e.Pods = []why.Pod{{Object: object("p"), Node: "n"}}
		return with(calm(e), change)
	}
	beside := shrinks(plain(typeOf("", "configmaps", object("c", "example.com/x"))), "aquasecurity.github.io",
		"vulnerabilityreports", object("a"))
	rest := func(first, second []why.Object) why.Evidence {
		e := calm(plain(typeOf("", "configmaps", first...)))
		e.Second.Types = []why.Type{typeOf("", "configmaps", second...)}
		return e
	}
	young := func() why.Evidence {
		return with(calm(plain(typeOf("", "configmaps"))), func(e *why.Evidence) {
			e.Namespace.Deleted, e.Second.Namespace.Deleted = at.Add(-20*time.Second), at.Add(-20*time.Second)
		})
	}
	early := rest([]why.Object{object("c", "example.com/x"), object("b")}, []why.Object{object("c", "example.com/x")})
	early.Types[0].Objects, early.Incomplete = nil, "the limit of requests (--max-requests) was reached"
	tokenless := func(e *why.Evidence) { e.Namespace.SpecFinalizers, e.Second.Namespace.SpecFinalizers = nil, nil }
	released := becomes(content(), fails("1 remaining"), fails("1 remaining"))
	released.Second.Namespace.SpecFinalizers = nil
	refusedDiscovery := claims(discoveryFailure, noAnswer, time.Minute)
	refusedDiscovery.Discovery.Refused = &why.Failure{Request: "GET /apis", Code: 500, Message: "no"}
	const unknown, goes = "unknown, exit 3", "progressing, exit 0"
	judgedAs(t, []row{
		is("a pod that the kubelet ends", with(calm(onReadyNode(ending(600*time.Second, "a"))), runs), unknown,
			"no known cause is proven"),
		is("a pod without the token", with(conditioned(onReadyNode(ending(time.Minute, "a"))), tokenless, runs),
			unknown, "no known cause is proven"),
		is("nothing is known", with(plain(), tokenless), unknown, "no known cause is proven"),
		is("a type that cannot be read", with(plain(), failed(500, "m")), unknown),
		is("nothing is left", calm(plain()), unknown, ": nothing is left in it: a controller that works would have "+
			"removed it within 1m."),
		is("discovery failed, and nothing else is left", conditioned(calm(plain()), holds(discoveryFailure, noAnswer,
			time.Minute)...), unknown, "; no known cause is proven.\n"),
		is("discovery is refused to this user", refusedDiscovery, unknown),
		is("a new failure", becomes(content(), not(contentFailure), fails("1 remaining")), unknown,
			"no known cause is proven"),
		is("a token was removed", released, goes, "kubernetes was removed between the samples"),
		is("it does not exist", why.Evidence{Name: "shpo", Refused: &why.Failure{Code: 404},
			Terminating: []string{"shop"}}, "absent, exit 1", `namespace "shpo" does not exist; Terminating now: shop`),
		is("it does not exist, and no other may be listed", why.Evidence{Name: "shpo", Refused: &why.Failure{Code: 404},
			Unlisted: &why.Failure{Code: 403}}, "absent, exit 1", `namespace "shpo" does not exist; this user may `+
			`not list those that are Terminating`),
		is("it may not be read", why.Evidence{Name: "shop", Refused: &why.Failure{Code: 403, Message: "no",
			Right: "get namespaces"}}, unknown, "cannot be read"),
		is("it is too early to tell", young(), goes, "sentence: Namespace shop has been terminating for 30s: too "+
			"early to tell.\n"),
		is("it is too early to tell from one sample", with(young(), func(e *why.Evidence) { e.Second = nil }), goes,
			"too early to tell"),
		is("a type becomes smaller beside a refusal", shrinks(failing(exceeded, typeOf("", "configmaps", object("a"))),
			"", "endpoints", object("b")), unknown, "found: C27 possible"),
		is("a type becomes smaller beside one that is unread", shrinks(evidence(remaining("1"), forbidden), "",
			"configmaps", object("b")), unknown, "but databases.db.io could not be read"),
		is("pods end beside one that does not", with(calm(onReadyNode(ending(time.Minute, "old"),
			ending(610*time.Second, "young"))), runs, func(e *why.Evidence) {
			e.Second.Types = []why.Type{typeOf("", "pods", e.Types[0].Objects[0])}
		}), unknown),
		is("the examination ended early", early, unknown),
		is("what goes by itself does not hide what may stand still", calm(beside), unknown, "found: C27 proven",
			"found: C04 possible", "has been terminating for 10m and is waiting: 1 "+
				"object of type vulnerabilityreports.aquasecurity.github.io went within 10s", ". Possibly 1 object of "+
				"type configmaps waits for the "+
				"owner of example.com/x; that is not proven."),
		is("a refusal beside a pod that may run, of a controller that does not wait for it", inGrace(exceeded, atOnce),
			unknown),
		is("a refusal in the first minute", inGrace(exceeded, func(e *why.Evidence) {
			e.At, e.Second.At = deleted.Add(20*time.Second), deleted.Add(30*time.Second)
		}), goes),
		is("a refusal of before the pods", inGrace(exceeded, func(*why.Evidence) {}), goes),
		is("a second list that fails shows no progress", with(shrinks(says(plain(), "x"), "", "configmaps"),
			func(e *why.Evidence) { e.Second.Types[1] = unread("", "configmaps", 500, "no") }), unknown),
		is("a second list that is not counted shows no progress", with(calm(content()), func(e *why.Evidence) {
			e.Types[0].Count, e.Second.Types[0].Count, e.Second.Types[0].More = 1200, 500, true
			e.Second.Types[0].Partial = true
		}), unknown),
	})
	judged(t, []row{
		is("fewer objects", shrinks(calm(plain()), "", "configmaps", object("a")), "C27 proven",
			"proof: 1 object left\n", "with 1 object left"),
		is("fewer objects while requests are refused", shrinks(says(plain(), "x"), "", "configmaps", object("a")),
			"C27 possible", "proof: 1 object left\n"),
		is("fewer events, which expire", shrinks(plain(), "", "events", object("a")), "no C27"),
		is("a second list that fails", with(shrinks(plain(), "", "configmaps"), func(e *why.Evidence) {
			e.Second.Types[1] = unread("", "configmaps", 500, "no")
		}), "no C27"),
		is("a second list of a definition's objects that fails", with(defined(), func(e *why.Evidence) {
			e.Second.Types[0] = unread("keda.sh", "scaledobjects", 500, "no")
		}), "C25 possible", "!found: C27"),
		is("what waits for pods", waits(func(*why.Evidence) {}), "C04 later"),
		is("nothing waits for pods if all types are deleted at once", waits(atOnce), "C04 possible",
			"!found: C04 later"),
		once("a right of a namespace that is gone does not matter", plain(forbidden), func(e *why.Evidence) {
			e.Second.Namespace = nil
		}, "no C30", "verdict: absent, exit 0"),
	})
}

// judgedAs checks a table whose rows want a verdict and its exit code.
func judgedAs(t *testing.T, rows []row) {
	t.Helper()
	for i := range rows {
		rows[i].words = append(rows[i].words, "verdict: "+rows[i].want+"\n")
		rows[i].want = strings.Split(rows[i].want, ",")[0]
	}
	judged(t, rows)
}

// The judge does not panic whatever it is given, proves nothing without proof, and judges the same
// twice and after --save and --from.
func FuzzJudge(f *testing.F) {
	for _, e := range situations() {
		text, err := json.Marshal(e)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var e why.Evidence
		if json.Unmarshal(text, &e) != nil {
			return
		}
		report := why.Judge(e)
		for _, found := range report.Findings {
			if found.Certainty == why.Proven {
				assert.NotEmpty(t, found.Proof)
				assert.Empty(t, found.Missing)
			}
		}
		var first, again bytes.Buffer
		require.NoError(t, why.WriteJSON(&first, report))
		require.NoError(t, why.WriteJSON(&again, why.Judge(e)))
		assert.Equal(t, first.String(), again.String())
		require.NoError(t, report.WriteText(io.Discard, false, 80))
		path := filepath.Join(t.TempDir(), "evidence.json")
		if e.Save(path) != nil {
			return // no server sends times after the year 9999
		}
		loaded, err := why.Load(path)
		require.NoError(t, err)
		again.Reset()
		require.NoError(t, why.WriteJSON(&again, why.Judge(loaded)))
		assert.Equal(t, first.String(), again.String())
	})
}
