package deltafifotest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

var errTransform = errors.New("cannot make sense of it")

// refusing makes Transform refuse version 666. The keys that Config.Refused was called with are
// seen, and so is the number of items that the hook Replaced reports.
func refusing(r *rig, cfg *deltafifo.Config[*Object]) {
	cfg.Transform = func(o *Object) (*Object, error) {
		if o.Version == 666 {
			return nil, errTransform
		}
		return o, nil
	}
	cfg.Refused = func(key string, err error) {
		if _, isKeyError := errors.AsType[*deltafifo.KeyError](err); isKeyError {
			key = "no key"
		} else {
			assert.ErrorIs(r, err, errTransform)
		}
		r.seen = append(r.seen, key)
	}
	cfg.Trace = &deltafifo.Trace[*Object]{Replaced: func(_ string, items, _, _ int) {
		r.seen = append(r.seen, fmt.Sprintf("%d listed", items))
	}}
}

// stamping makes Transform add 1000 to the version. The objects that it gets are seen.
func stamping(r *rig, cfg *deltafifo.Config[*Object]) {
	r.seen = []string{}
	cfg.Transform = func(o *Object) (*Object, error) {
		r.seen = append(r.seen, o.String())
		return Obj(o.Name, o.Version+1000), nil
	}
}

var errorTests = append([]behaviour{
	{"AnObjectWithoutAKeyIsRefused", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":    func(q Queue) error { return q.Add(Obj("", 1)) },
			"Update": func(q Queue) error { return q.Update(Obj("", 1)) },
			"Delete": func(q Queue) error { return q.Delete(Obj("", 1)) },
		} {
			r := newRig(t, impl, "", refusing)
			err := call(r.queue)
			keyError, ok := errors.AsType[*deltafifo.KeyError](err)
			require.True(t, ok, "%s: %v", name, err)
			assert.Equal(t, Obj("", 1), keyError.Obj, name)
			assert.ErrorIs(t, err, ErrNameless, name)
			r.expect()
			if impl.has(SkipsRefused) {
				assert.Equal(t, []string{"no key"}, r.seen, "%s: the calls of Config.Refused", name)
			}
		}
	}},
	{"AnAdditionOrUpdateThatTransformRefusesIsNotQueued", func(t *testing.T, impl Implementation) {
		for name, call := range map[string]func(Queue) error{
			"Add":    func(q Queue) error { return q.Add(Obj("bad", 666)) },
			"Update": func(q Queue) error { return q.Update(Obj("bad", 666)) },
		} {
			r := newRig(t, impl, "bad@1", refusing)
			err := call(r.queue)
			assert.ErrorIs(t, err, errTransform, name)
			transformError, typed := errors.AsType[*deltafifo.TransformError](err)
			require.Equal(t, impl.has(TransformErrors), typed, "%s: %v", name, err)
			if typed {
				assert.Equal(t, "bad", transformError.Key, name)
				assert.Equal(t, []string{"bad"}, r.seen, "%s: the calls of Config.Refused", name)
			}
			r.expect()
			assert.Equal(t, []string{"bad@1"}, r.consumer.Objects(), "%s: the store keeps the old state", name)
		}
	}},
	{"AfterAListThatFailedTheNextOneIsTheFirst", with("", func(r *rig) {
		r.play("list @1 bad@666; list a@1")
		if !r.has(SkipsRefused) {
			r.play("unsynced") // with it, nothing of the first list has to be processed
		}
		r.play("pop; synced")
		assert.Equal(r, []string{"add a@1"}, r.consumer.Journal())
	}, refusing)},
}, behaviours([]script{
	{name: "AListedObjectThatIsRefusedCostsOnlyItself", known: "gone@1", config: refusing,
		calls: "list a@1 bad@666 b@1; unsynced",
		want:  "a: Replaced a@1; b: Replaced b@1; gone: Deleted gone@1 (inferred)",
		then:  "synced", seen: "bad; 2 listed",
		without: SkipsRefused, instead: "a: Replaced a@1"}, // and neither b nor the tombstone of gone
	{name: "AListedObjectWithoutAKeyCostsOnlyItself", known: "gone@1", config: refusing,
		calls: "list a@1 @1 b@1; unsynced",
		want:  "a: Replaced a@1; b: Replaced b@1; gone: Deleted gone@1 (inferred)",
		then:  "synced", seen: "no key; 2 listed",
		without: SkipsRefused, instead: "a: Replaced a@1"},
	{name: "AListOfRefusedObjectsIsAList", config: refusing, needs: SkipsRefused,
		calls: "list @1 bad@666; synced", // nothing of the list has to be processed
		want:  "nothing", seen: "no key; bad; 0 listed"},
	{name: "ADeletionNeedsOnlyItsKey", known: "known@1 changed@1", config: refusing,
		calls: "add waiting@1; update changed@2; " +
			"delete known@666; delete changed@666; delete waiting@666",
		want: "waiting: Added waiting@1, Deleted waiting@1 (inferred); " +
			"changed: Updated changed@2, Deleted changed@2 (inferred); known: Deleted known@1 (inferred)",
		seen:    "known; changed; waiting",
		without: SkipsRefused, instead: "waiting: Added waiting@1; changed: Updated changed@2"},
	{name: "ADeletionOfAnUnknownObjectIsRefusedAndIgnored", config: refusing, needs: SkipsRefused,
		calls: "delete unknown@666",
		want:  "nothing", seen: "unknown"},
	{name: "EachObjectIsTransformedOnce", known: "d@1", config: stamping,
		calls: "add a@1; update a@2; delete a@3; list b@1 c@1 d@2",
		want: "a: Added a@1001, Updated a@1002, Deleted a@1003; b: Replaced b@1001; c: Replaced c@1001; " +
			"d: Replaced d@1002",
		seen: "a@1; a@2; a@3; b@1; c@1; d@2"},
	{name: "TombstonesAreNotTransformed", known: "known@1001", config: stamping,
		calls: "add waiting@1; list",
		want:  "waiting: Added waiting@1001, Deleted waiting@1001 (inferred); known: Deleted known@1001 (inferred)",
		seen:  "waiting@1"},
	{name: "ASyncIsNotTransformed", known: "a@1001", config: stamping,
		calls: "resync",
		want:  "a: Sync a@1001", seen: "nothing"},
	{name: "AListedObjectThatIsRefusedKeepsItsState", known: "known@1 changed@1", config: refusing, needs: SkipsRefused,
		calls: "add waiting@1; update changed@2; list known@666 changed@666 waiting@666 unknown@666",
		want:  "waiting: Added waiting@1; changed: Updated changed@2",
		holds: "changed@2 known@1 waiting@1"}, // no refused object counts as deleted
	{name: "AListedObjectThatIsRefusedWhileItIsProcessedKeepsItsState", config: refusing, needs: SkipsRefused,
		calls: "add a@1", during: "list a@666",
		want: "nothing", holds: "a@1"},
	{name: "AnObjectListedTwiceAndRefusedOnceIsReplaced", known: "a@1", config: refusing, needs: SkipsRefused,
		calls: "list a@666 a@2",
		want:  "a: Replaced a@2"},
	{name: "ADeletionThatIsRefusedWhileItsObjectIsAdded", config: refusing, needs: SkipsRefused,
		calls: "add a@1", during: "delete a@666",
		want: "a: Deleted a@1 (inferred)"},
	{name: "ADeletionThatIsRefusedWhileItsObjectIsDeleted", known: "a@1", config: refusing, needs: SkipsRefused,
		calls: "delete a@2", during: "delete a@666",
		want: "nothing"},
	{name: "ADeletionThatIsRefusedAndRepeated", known: "a@1 b@1", config: refusing, needs: SkipsRefused,
		calls:   "delete a@666; delete a@2; delete b@666; add b@3",
		want:    "a: Deleted a@2; b: Deleted b@1 (inferred), Added b@3",
		without: Accumulation,
		instead: "a: Deleted a@1 (inferred); b: Deleted b@1 (inferred), Added b@3"},
})...)

// looker has the methods of deltafifo.Interface that Queue lacks.
type looker interface {
	Len() int
	Snapshot() deltafifo.Snapshot
}

// lookingTests are about Len, Snapshot and the hooks.
var lookingTests = []behaviour{
	{"LenAndSnapshot", with("", func(r *rig) {
		look, ok := r.queue.(looker)
		if require.Equal(r, r.has(Looking), ok); !ok {
			return
		}
		assert.Equal(r, deltafifo.Snapshot{Waiting: []deltafifo.KeySnapshot{}}, look.Snapshot())
		assert.Zero(r, look.Len())

		r.play("list a@1 b@1; add c@1")
		waiting := []deltafifo.KeySnapshot{
			{Key: "a", Types: []deltafifo.DeltaType{deltafifo.Replaced}, IsInInitialList: true},
			{Key: "b", Types: []deltafifo.DeltaType{deltafifo.Replaced}, IsInInitialList: true},
			{Key: "c", Types: []deltafifo.DeltaType{deltafifo.Added}},
		}
		assert.Equal(r, deltafifo.Snapshot{Waiting: waiting, InitialLeft: 2}, look.Snapshot())
		assert.Equal(r, 3, look.Len(), "Len is the number of waiting entries")

		r.update("b", 2)
		if r.has(Accumulation) {
			waiting[1].Types = append(waiting[1].Types, deltafifo.Updated)
		} else {
			waiting = append(waiting, deltafifo.KeySnapshot{Key: "b", Types: []deltafifo.DeltaType{deltafifo.Updated}})
		}
		r.popDuring(func() {
			if r.has(FreeProducers) {
				assert.Equal(r, len(waiting)-1, look.Len(), "an entry being processed does not count")
				assert.Equal(r, deltafifo.Snapshot{Waiting: waiting[1:], InFlight: &waiting[0], InitialLeft: 2},
					look.Snapshot())
			}
		})
		assert.Equal(r, deltafifo.Snapshot{Waiting: waiting[1:], InitialLeft: 1}, look.Snapshot())
		r.drain()
		assert.Equal(r, deltafifo.Snapshot{Waiting: []deltafifo.KeySnapshot{}, Synced: true, Closed: true},
			look.Snapshot())
	})},
	{"APopDoesNotBlockIfLenIsNotZero", with("known@1", func(r *rig) {
		look, ok := r.queue.(looker)
		if !ok {
			return
		}
		// Each of these may turn out to hold no deltas.
		for range 3 {
			r.play("list; resync; delete known@2; delete unknown@1")
			for look.Len() > 0 {
				r.pop() // panics if it blocks
			}
		}
		r.expect()
	})},
	{"Hooks", with("gone@1", func(r *rig) {
		r.seen = []string{}
		if !r.has(Looking) {
			r.play("list; pop; add a@1; update a@2; pop; resync")
			assert.Empty(r, r.seen)
			return
		}
		for _, step := range hookSteps {
			if step.needs != "" && !r.has(step.needs) {
				continue
			}
			r.seen = []string{}
			r.play(step.calls)
			want := step.want
			if step.arrival != "" && !r.has(Accumulation) {
				want = step.arrival
			}
			if want != "" {
				assert.Equal(r, list(want, "; "), r.ordered(step.calls), "the hooks that were called by %s", step.calls)
			}
			for look := r.queue.(looker); step.drained && look.Len() > 0; {
				r.pop()
			}
		}
	}, func(r *rig, cfg *deltafifo.Config[*Object]) { cfg.Trace = NewTrace(&r.seen) })},
}

// ordered returns the hooks that were called. Those for the deltas of a list come in any order, and
// only the last of them need have the depth of the whole list.
func (r *rig) ordered(calls string) []string {
	if !strings.HasPrefix(calls, "list") {
		return r.seen
	}
	if first, last := slices.IndexFunc(r.seen, isQueued), len(r.seen)-1; first >= 0 {
		_, depth, _ := strings.Cut(r.seen[last], ", depth ")
		assert.True(r, strings.HasSuffix(r.seen[last-1], ", depth "+depth), "%q, want depth %s", r.seen[last-1], depth)
		for i := first; i < last; i++ {
			r.seen[i], _, _ = strings.Cut(r.seen[i], ", depth ")
		}
		slices.Sort(r.seen[first:last])
	}
	return r.seen
}

func isQueued(line string) bool { return strings.HasPrefix(line, "queued") }

// hookSteps are calls and the hooks that they call. The queue's content stays for the next step.
var hookSteps = []struct {
	needs   Capability
	calls   string
	want    string
	arrival string // want without Accumulation, if it differs
	drained bool   // afterwards everything that waits is processed
}{
	{calls: "list", want: "queued gone: Deleted gone@1 (inferred); replaced at 1: 0 items, 1 tombstones, depth 1"},
	{calls: "pop", want: "popped gone: Deleted gone@1 (inferred), initial true, depth 0; " +
		"processed gone: Deleted gone@1 (inferred), <nil>; synced"},
	{calls: "add a@1; add b@1", want: "queued a: Added a@1, depth 1; queued b: Added b@1, depth 2"},
	{calls: "pop; pop", want: "popped a: Added a@1, initial false, depth 1; processed a: Added a@1, <nil>; " +
		"popped b: Added b@1, initial false, depth 0; processed b: Added b@1, <nil>"},
	{calls: "delete unknown@1", want: "ignored unknown: Deleted unknown@1",
		arrival: "queued unknown: Deleted unknown@1, depth 1; ignored unknown: Deleted unknown@1"},
	{calls: "list b@2", drained: true,
		want: "queued a: Deleted a@1 (inferred); queued b: Replaced b@2; " +
			"replaced at 2: 1 items, 1 tombstones, depth 2"},
	{calls: "update b@2"},
	{calls: "list z@2", needs: Accumulation, drained: true, // b waits and is known: one tombstone
		want: "queued b: Deleted b@2 (inferred); queued z: Replaced z@2; " +
			"replaced at 3: 1 items, 1 tombstones, depth 2"},
	{calls: "list z@2; pop", drained: true,
		arrival: "popped b: Updated b@2, initial false, depth 1; processed b: Updated b@2, <nil>; " +
			"queued b: Deleted b@2 (inferred); queued z: Replaced z@2; replaced at 3: 1 items, 1 tombstones, depth 2"},
	{calls: "resync", want: "queued z: Sync z@2, depth 1; resynced 1, skipped 0, depth 1"},
	{calls: "resync", want: "resynced 0, skipped 1, depth 1", arrival: "nothing"},
	{needs: Accumulation, calls: "add unknown@1; resync",
		want: "queued unknown: Added unknown@1, depth 2; resynced 0, skipped 1, depth 2"},
	{drained: true},
	{calls: "add c@1; fail", want: "queued c: Added c@1, depth 1; popped c: Added c@1, initial false, depth 0; " +
		"processed c: Added c@1, " + errProcess.Error()},
	{calls: "add c@1; panic", want: "queued c: Added c@1, depth 1; popped c: Added c@1, initial false, depth 0; " +
		"processed c: Added c@1, " + deltafifo.ErrUnfinished.Error()},
	{calls: "add d@1; add e@1"},
	{needs: Requeue, calls: "requeue", want: "popped d: Added d@1, initial false, depth 1; " +
		"processed d: Added d@1, " + (&deltafifo.ErrRequeue{}).Error() + "; requeued d: Added d@1, depth 2"},
	{needs: Requeue, calls: "delete d@2; delete d@3", want: "queued d: Deleted d@2, depth 2; " +
		"kept d: Deleted d@2, dropped Deleted d@3; queued d: Deleted d@3, depth 2"},
	{calls: "close; close", want: "closed, depth 2"},
}

// NewTrace returns a Trace with every hook set, which appends a line to log for each call.
func NewTrace(log *[]string) *deltafifo.Trace[*Object] {
	record := func(format string, args ...any) { *log = append(*log, fmt.Sprintf(format, args...)) }
	type (
		delta  = deltafifo.Delta[*Object]
		deltas = deltafifo.Deltas[*Object]
	)
	return &deltafifo.Trace[*Object]{
		Queued: func(key string, d delta, depth int) { record("queued %s: %s, depth %d", key, Describe(d), depth) },
		Deduplicated: func(key string, kept, dropped delta) {
			record("kept %s: %s, dropped %s", key, Describe(kept), Describe(dropped))
		},
		Ignored:  func(key string, d delta) { record("ignored %s: %s", key, Describe(d)) },
		Canceled: func(key string, d delta) { record("canceled %s: %s", key, Describe(d)) },
		Replaced: func(resourceVersion string, items, tombstones, depth int) {
			record("replaced at %s: %d items, %d tombstones, depth %d", resourceVersion, items, tombstones, depth)
		},
		Resynced: func(queued, skipped, depth int) {
			record("resynced %d, skipped %d, depth %d", queued, skipped, depth)
		},
		Popped: func(key string, d deltas, isInInitialList bool, depth int) {
			record("popped %s: %s, initial %t, depth %d", key, DescribeAll(d), isInInitialList, depth)
		},
		Processed: func(key string, d deltas, err error) { record("processed %s: %s, %v", key, DescribeAll(d), err) },
		Requeued: func(key string, d deltas, depth int) {
			record("requeued %s: %s, depth %d", key, DescribeAll(d), depth)
		},
		Synced: func() { record("synced") },
		Closed: func(depth int) { record("closed, depth %d", depth) },
	}
}
