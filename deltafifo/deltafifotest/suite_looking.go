package deltafifotest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
)

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
	{"Hooks", func(t *testing.T, impl Implementation) {
		consumer := NewConsumer(Obj("gone", 1))
		log := []string{}
		queue := impl.New(deltafifo.Config[*Object]{KeyFunc: KeyFunc, KnownObjects: consumer, Trace: NewTrace(&log)})
		r := newRigOf(t, impl, consumer, queue)
		expect := func(want ...string) {
			t.Helper()
			if want == nil || !impl.has(Looking) {
				want = []string{}
			}
			assert.Equal(t, want, log, "the hooks that were called")
			log = []string{}
		}

		require.NoError(t, queue.Replace(nil, "7"))
		expect("queued gone: Deleted gone@1 (inferred), depth 1", "replaced at 7: 0 items, 1 tombstones, depth 1")
		r.pop()
		expect("popped gone: Deleted gone@1 (inferred), initial true, depth 0",
			"processed gone: Deleted gone@1 (inferred), <nil>", "synced")

		r.play("add a@1; add b@1")
		expect("queued a: Added a@1, depth 1", "queued b: Added b@1, depth 2")
		r.pop()
		r.pop()
		expect("popped a: Added a@1, initial false, depth 1", "processed a: Added a@1, <nil>",
			"popped b: Added b@1, initial false, depth 0", "processed b: Added b@1, <nil>")

		r.delete("unknown", 1)
		if impl.has(Accumulation) {
			expect("ignored unknown: Deleted unknown@1")
		} else {
			expect("queued unknown: Deleted unknown@1, depth 1", "ignored unknown: Deleted unknown@1")
		}

		require.NoError(t, queue.Replace([]*Object{Obj("b", 2)}, "8"))
		if impl.has(Looking) {
			require.Len(t, log, 3, "a Replace reports each delta and then itself")
			assert.ElementsMatch(t, []string{"queued a: Deleted a@1 (inferred)", "queued b: Replaced b@2"},
				withoutDepth(log[:2]))
			assert.Contains(t, log[1], "depth 2", "the depth with the last delta of a list")
			assert.Equal(t, "replaced at 8: 1 items, 1 tombstones, depth 2", log[2])
			log = []string{}
		}
		r.pop()
		r.pop()
		log = []string{}

		r.update("b", 2)
		log = []string{}
		require.NoError(t, queue.Replace([]*Object{Obj("z", 2)}, "9")) // b waits and is known: one tombstone
		if impl.has(Accumulation) {
			if impl.has(Looking) {
				require.Len(t, log, 3, "a key that waits and is known has one tombstone")
				assert.Equal(t, "replaced at 9: 1 items, 1 tombstones, depth 2", log[2])
			}
			r.pop()
			r.pop()
		} else {
			r.pop()
			assert.Contains(t, log, "replaced at 9: 1 items, 1 tombstones, depth 2", "once the list is at the front")
			r.pop()
			r.pop()
		}
		log = []string{}

		r.resync()
		expect("queued z: Sync z@2, depth 1", "resynced 1, skipped 0, depth 1")
		r.resync()
		if impl.has(Accumulation) {
			expect("resynced 0, skipped 1, depth 1")
			r.play("add unknown@1; resync")
			expect("queued unknown: Added unknown@1, depth 2", "resynced 0, skipped 1, depth 2")
			r.pop()
		} else {
			expect()
		}
		r.pop()
		if !impl.has(Accumulation) {
			r.pop()
		}
		log = []string{}

		r.add("c", 1)
		_, _ = r.popFailing(errProcess)
		expect("queued c: Added c@1, depth 1", "popped c: Added c@1, initial false, depth 0",
			"processed c: Added c@1, "+errProcess.Error())
		r.add("c", 1)
		assert.Panics(t, func() {
			_, _ = queue.Pop(func(string, deltafifo.Deltas[*Object], bool) error { panic("boom") })
		})
		expect("queued c: Added c@1, depth 1", "popped c: Added c@1, initial false, depth 0",
			"processed c: Added c@1, "+deltafifo.ErrUnfinished.Error())

		if impl.has(Requeue) {
			r.play("add d@1; add e@1")
			log = []string{}
			_, _ = r.popFailing(&deltafifo.ErrRequeue{Err: errors.New("later")})
			expect("popped d: Added d@1, initial false, depth 1", "processed d: Added d@1, later",
				"requeued d: Added d@1, depth 2")
			r.play("delete d@2; delete d@3")
			expect("queued d: Deleted d@2, depth 2", "kept d: Deleted d@2, dropped Deleted d@3",
				"queued d: Deleted d@3, depth 2")
			queue.Close()
			queue.Close()
			expect("closed, depth 2")
			return
		}
		queue.Close()
		queue.Close()
		expect("closed, depth 0")
	}},
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
			record("resynced %d, skipped %d, depth %d", queued, skipped,
				depth)
		},
		Popped: func(key string, d deltas, isInInitialList bool, depth int) {
			record("popped %s: %s, initial %t, depth %d", key, DescribeAll(d), isInInitialList, depth)
		},
		Processed: func(key string, d deltas, err error) { record("processed %s: %s, %v", key, DescribeAll(d), err) },
		Requeued: func(key string, d deltas, depth int) {
			record("requeued %s: %s, depth %d", key, DescribeAll(d),
				depth)
		},
		Synced: func() { record("synced") },
		Closed: func(depth int) { record("closed, depth %d", depth) },
	}
}

func withoutDepth(lines []string) []string {
	cut := make([]string, len(lines))
	for i, line := range lines {
		cut[i], _, _ = strings.Cut(line, ", depth")
	}
	return cut
}
