package why_test

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// situations are causes that the API server in memory does not play, each with what is not it.
func situations() map[string]struct{ proven, not why.Evidence } {
	all := map[string]struct{ proven, not why.Evidence }{}

	stale := evidence(terminating(discoveryFailure, "Discovery failed: g.io/v1: stale GroupVersion discovery: g.io/v1"))
	failed := map[string]string{"g.io/v1": "stale GroupVersion discovery: g.io/v1"}
	stale.Discovery.Stale, stale.Discovery.Failed = []string{"g.io/v1"}, failed
	stale.Second.Stale, stale.Second.Failed = []string{"g.io/v1"}, failed
	stale.APIServices = why.Answer[why.APIService]{Request: "GET apiservices", Items: []why.APIService{{
		Name: "v1.g.io", GroupVersion: "g.io/v1", Service: &why.Service{Namespace: "a", Name: "b"}, Available: "True", Reason: "Passed",
	}}}
	stale.Probes = []why.Probe{{GroupVersion: "g.io/v1", Request: "GET /apis/g.io/v1"}}
	passed := stale
	fine := *stale.Second
	fine.Failed = map[string]string{}
	passed.Second = &fine
	all["C03"] = struct{ proven, not why.Evidence }{stale, passed}

	broken := typeOf("g.io", "things")
	broken.Failed = &why.Failure{Request: "GET things", Code: 500, Message: "conversion webhook for g.io/v1, Kind=Thing failed: Post: refused"}
	conversion := evidence(terminating("", ""), broken)
	conversion.Definitions = why.Answer[why.Definition]{Request: "GET crds", Items: []why.Definition{{Type: "things.g.io", Converter: &why.Service{Namespace: "a", Name: "b"}}}}
	conversion.Backends = []why.Backend{{Service: why.Service{Namespace: "a", Name: "b"}, Request: "GET service"}}
	works := evidence(terminating("", ""), typeOf("g.io", "things"))
	works.Definitions = conversion.Definitions
	all["C09"] = struct{ proven, not why.Evidence }{conversion, works}

	late := object("a")
	late.Deleted = deleted.Add(time.Minute)
	stays := evidence(terminating("", ""), typeOf("", "pods", late))
	stays.Pods = []why.Pod{{Object: late, Node: "n"}}
	stays.Nodes = why.Answer[why.Node]{Request: "GET nodes", Items: []why.Node{{Name: "n", Ready: "True"}}}
	running := stays
	running.Pods = []why.Pod{{Object: late, Node: "n", Running: []string{"c"}}}
	all["C12"] = struct{ proven, not why.Evidence }{stays, running}

	foreground := terminating("", "")
	foreground.SpecFinalizers, foreground.Finalizers = nil, []string{"foregroundDeletion"}
	collector := evidence(foreground)
	collector.Leases = answered[why.Lease]("GET leases")
	collector.Managers = why.Answer[why.Manager]{Request: "GET pods", Items: []why.Manager{{Name: "kcm", Ready: true, Controllers: "*,-garbagecollector"}}}
	young := collector
	young.At = deleted.Add(20 * time.Second)
	sample := *collector.Second
	sample.At = deleted.Add(30 * time.Second)
	young.Second = &sample
	young.Managers.Items = []why.Manager{{Name: "kcm", Ready: true}}
	all["C17"] = struct{ proven, not why.Evidence }{collector, young}

	two := evidence(terminating(contentFailure, "x"))
	two.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionFalse}}
	two.Second.Namespace.Writers = []why.Writer{{Manager: "a", At: later}, {Manager: "b", At: later.Add(-5 * time.Second)}}
	one := evidence(terminating(contentFailure, "x"))
	one.Second.Namespace.Conditions = two.Second.Namespace.Conditions
	one.Second.Namespace.Writers = []why.Writer{{Manager: "a", At: later}, {Manager: "b", At: deleted}}
	all["C20"] = struct{ proven, not why.Evidence }{two, one}

	const unexpected = "unexpected items still remain in namespace: shop for gvr: g.io/v1, Resource=things"
	fresh := object("t")
	fresh.Created = deleted.Add(time.Minute)
	all["C22"] = struct{ proven, not why.Evidence }{
		evidence(terminating(contentFailure, unexpected), typeOf("g.io", "things", object("t"))),
		evidence(terminating(contentFailure, unexpected), typeOf("g.io", "things", fresh)),
	}

	next := fresh
	next.UID, next.Name, next.Created = "uid-next", "next", later
	grows := evidence(terminating("", ""), typeOf("", "configmaps", fresh))
	grows.Second.Types = []why.Type{typeOf("", "configmaps", fresh, next)}
	early := object("e")
	early.Created = deleted.Add(3 * time.Second)
	all["C28"] = struct{ proven, not why.Evidence }{grows, evidence(terminating("", ""), typeOf("", "configmaps", early))}
	return all
}

func TestJudge(t *testing.T) {
	for id, s := range situations() {
		t.Run(id, func(t *testing.T) {
			report := why.Judge(s.proven)
			found := find(report, id)
			require.NotNil(t, found, report.Sentence)
			assert.Equal(t, why.Proven, found.Certainty, "%v", found.Missing)
			assert.Equal(t, why.Stuck, report.Verdict)
			assert.Equal(t, why.ExitStuck, report.ExitCode)
			assert.Nil(t, find(why.Judge(s.not), id))
		})
	}
}

// A controller that overwrites all that the other one wrote takes its entry of managedFields away,
// so that each sample may have one writer only. That may also be one that has taken over.
func TestTwoControllersThatOverwriteEverything(t *testing.T) {
	e := evidence(terminating(contentFailure, "x"))
	e.Namespace.Writers = []why.Writer{{Manager: "a", At: at.Add(-2 * time.Second)}}
	e.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionFalse}}
	e.Second.Namespace.Writers = []why.Writer{{Manager: "b", At: later.Add(-time.Second)}}
	found := find(why.Judge(e), "C20")
	require.NotNil(t, found)
	assert.Equal(t, []string{"a has not written since the first sample, and may have stopped"}, found.Missing)

	e.Second.Namespace.Writers = append(e.Second.Namespace.Writers, why.Writer{Manager: "a", At: at.Add(time.Second)})
	assert.Equal(t, why.Proven, find(why.Judge(e), "C20").Certainty, "both write")

	for _, once := range []string{"kubectl-edit", "Python-urllib"} {
		e.Second.Namespace.Writers[0].Manager = once
		assert.Nil(t, find(why.Judge(e), "C20"), "%s wrote once", once)
	}

	e.Second.Namespace.Writers = []why.Writer{{Manager: "a", At: later.Add(-time.Second)}}
	assert.Nil(t, find(why.Judge(e), "C20"), "the same one has changed its mind")
}

// With --all-namespaces and --watch each change has one line, also the end of a namespace.
func TestChanges(t *testing.T) {
	stuck := evidence(terminating(contentFailure, "x"))
	last := map[string]string{}
	assert.Equal(t, []string{why.Judge(stuck).Sentence}, why.JudgeAll([]why.Evidence{stuck}).Changes(last))
	assert.Empty(t, why.JudgeAll([]why.Evidence{stuck}).Changes(last))
	gone := stuck
	gone.Second = &why.Sample{At: later}
	assert.Equal(t, []string{`namespace "shop" is gone`, "no namespace is Terminating"}, why.JudgeAll([]why.Evidence{gone}).Changes(last))
	assert.Empty(t, last)
	why.JudgeAll([]why.Evidence{stuck}).Changes(last)
	assert.Equal(t, []string{`namespace "shop" is gone`, "no namespace is Terminating"}, why.JudgeAll(nil).Changes(last))
	assert.Empty(t, last)
}

// A controller that has removed its token looks for nothing any more: what it could not discover
// since does not keep the namespace.
func TestWhatDoesNotMatterWithoutTheToken(t *testing.T) {
	e := situations()["C03"].proven
	e.Namespace.Finalizers, e.Second.Namespace.Finalizers = []string{"example.com/audit"}, []string{"example.com/audit"}
	assert.NotNil(t, find(why.Judge(e), "C03"))
	assert.Equal(t, why.Possible, find(why.Judge(e), "C16").Certainty)
	e.Namespace.SpecFinalizers, e.Second.Namespace.SpecFinalizers = nil, nil
	report := why.Judge(e)
	assert.Nil(t, find(report, "C03"))
	assert.Equal(t, why.Proven, find(report, "C16").Certainty, report.Findings)
}

// What cannot be said for certain, and the exit code for it.
func TestVerdicts(t *testing.T) {
	nothing := evidence(terminating("", ""))
	nothing.Namespace.SpecFinalizers, nothing.Second.Namespace.SpecFinalizers = nil, nil
	unread := evidence(terminating("", ""))
	unread.Types[0].Failed = &why.Failure{Code: 500, Message: "m"}
	old := evidence(terminating(api.NamespaceContentRemaining, "Some resources are remaining: pods. has 1 resource instances"))
	discovered := evidence(terminating(discoveryFailure, "Discovery failed for some groups, 1 failing: g.io/v1: no answer"), typeOf("", "configmaps", object("a")))
	empty := evidence(terminating("", ""))
	empty.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionFalse}}
	unconfirmed := evidence(terminating(contentFailure, "Failed to delete all resource types, 1 remaining: storage is (re)initializing"))
	written := func(e why.Evidence, before time.Duration) why.Evidence {
		for _, n := range []*why.Namespace{e.Namespace, e.Second.Namespace} {
			n.Conditions = slices.Clone(n.Conditions)
			n.Conditions[0].LastTransitionTime = api.NewTime(later.Add(-before))
		}
		return e
	}
	writers := []why.Writer{{Manager: "kcm", At: later.Add(-90 * time.Second)}}
	rewritten := written(evidence(terminating(api.NamespaceContentRemaining, "1 remains")), 5*time.Minute)
	rewritten.Second.Namespace.Writers = writers
	timedOut := written(evidence(terminating(contentFailure, "Timeout: request did not complete within the allotted timeout")), 5*time.Minute)
	timedOut.Second.Namespace.Writers = writers
	moved := evidence(terminating(contentFailure, "2 remaining"), typeOf("", "configmaps", object("a")))
	moved.Second.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionFalse}}
	again := evidence(terminating(contentFailure, "1 remaining: 10.0.0.2:41022"), typeOf("", "configmaps", object("a")))
	again.Second.Namespace.Conditions, again.Second.Namespace.ResourceVersion = terminating(contentFailure, "1 remaining: 10.0.0.2:41388").Conditions, "8"
	fails := evidence(terminating("", ""), typeOf("", "configmaps", object("a")))
	fails.Namespace.Conditions = moved.Second.Namespace.Conditions
	fails.Second.Namespace.Conditions, fails.Second.Namespace.ResourceVersion = terminating(contentFailure, "1 remaining").Conditions, "8"
	annotated := evidence(terminating(contentFailure, "1 remaining"), typeOf("", "configmaps", object("a")))
	annotated.Second.Namespace.ResourceVersion = "8"
	annotated.Second.Namespace.Conditions = append([]api.NamespaceCondition{{Type: "Other"}}, annotated.Namespace.Conditions...)
	moved.Second.Namespace.ResourceVersion = "8"
	released := evidence(terminating(contentFailure, "1 remaining"), typeOf("", "configmaps", object("a")))
	released.Second.Namespace.ResourceVersion, released.Second.Namespace.SpecFinalizers = "8", nil
	running := situations()["C12"].not
	running.Namespace.Conditions = []api.NamespaceCondition{{Type: contentFailure, Status: api.ConditionFalse}}
	running.Second.Namespace.Conditions = running.Namespace.Conditions
	ending := running
	ending.Pods = slices.Clone(running.Pods)
	ending.Pods[0].Deleted = later.Add(-10 * time.Second)
	finalized := running
	sample := why.Sample{At: later, Namespace: terminating("", ""), Types: running.Second.Types}
	sample.Namespace.SpecFinalizers, sample.Namespace.Conditions = nil, running.Namespace.Conditions
	finalized.Namespace, finalized.Second = sample.Namespace, &sample
	for name, test := range map[string]struct {
		evidence why.Evidence
		verdict  why.Verdict
		code     int
		says     string
	}{
		"a pod that still runs": {
			running, why.Unknown, why.ExitUnknown, "pod a should have ended 9m10s ago, and node n, which is Ready, still runs its container c: read the kubelet's log there.",
		},
		"a pod that the kubelet ends":      {ending, why.Unknown, why.ExitUnknown, "no known cause is proven"},
		"a pod without the token":          {finalized, why.Unknown, why.ExitUnknown, "no known cause is proven"},
		"nothing is known":                 {nothing, why.Unknown, why.ExitUnknown, "no known cause is proven"},
		"a claim that no longer holds":     {written(old, time.Minute), why.Progressing, 0, "ContentRemaining no longer holds"},
		"a claim that was rewritten since": {rewritten, why.Progressing, 0, "ContentRemaining no longer holds"},
		"a refusal that no list repeats":   {timedOut, why.Unknown, why.ExitUnknown, "which the requests of this command do not confirm"},
		"a claim that is not confirmed": {
			written(unconfirmed, 3*time.Minute), why.Unknown, why.ExitUnknown,
			`; ContentFailure says "Failed to delete all resource types, 1 remaining: storage is (re)initializing", which the requests of this command do not confirm`,
		},
		"nothing is left":            {empty, why.Unknown, why.ExitUnknown, "; nothing is left in it: a controller that works would have removed it within 1m0s."},
		"discovery works again":      {written(discovered, time.Minute), why.Progressing, 0, "DiscoveryFailure no longer holds, and the next pass comes within 1m0s"},
		"the conditions change":      {moved, why.Progressing, 0, "its conditions changed"},
		"a new failure":              {fails, why.Unknown, why.ExitUnknown, "no known cause is proven"},
		"only a text changes":        {again, why.Unknown, why.ExitUnknown, "no known cause is proven"},
		"only an annotation changes": {annotated, why.Unknown, why.ExitUnknown, "no known cause is proven"},
		"a token was removed":        {released, why.Progressing, 0, "kubernetes was removed between the samples"},
		"it does not exist": {
			why.Evidence{Name: "shpo", Refused: &why.Failure{Code: 404},
				Terminating: []string{"shop"}}, why.Absent, why.ExitError,
			`namespace "shpo" does not exist; Terminating now: shop`,
		},
		"no other may be listed": {
			why.Evidence{Name: "shpo", Refused: &why.Failure{Code: 404},
				Unlisted: &why.Failure{Code: 403}}, why.Absent, why.ExitError,
			`namespace "shpo" does not exist; this user may not list those that are Terminating`,
		},
		"it may not be read": {why.Evidence{Name: "shop", Refused: &why.Failure{Code: 403, Message: "no", Right: "get namespaces"}}, why.Unknown, why.ExitUnknown, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			report := why.Judge(test.evidence)
			assert.Equal(t, test.verdict, report.Verdict, report.Sentence)
			assert.Equal(t, test.code, report.ExitCode)
			assert.Contains(t, report.Sentence, test.says)
		})
	}
}

// The judge does not panic whatever it is given, proves nothing without proof, and judges the same
// twice and after --save and --from.
func FuzzJudge(f *testing.F) {
	for _, s := range situations() {
		text, err := json.Marshal(s.proven)
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
		require.NoError(t, report.WriteJSON(&first))
		require.NoError(t, why.Judge(e).WriteJSON(&again))
		assert.Equal(t, first.String(), again.String())
		require.NoError(t, report.WriteText(io.Discard, false, 80))
		path := filepath.Join(t.TempDir(), "evidence.json")
		if e.Save(path) != nil {
			return // no server sends times after the year 9999
		}
		loaded, err := why.Load(path)
		require.NoError(t, err)
		again.Reset()
		require.NoError(t, why.Judge(loaded).WriteJSON(&again))
		assert.Equal(t, first.String(), again.String())
	})
}
