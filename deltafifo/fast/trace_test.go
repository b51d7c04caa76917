package fast_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
	"orrery/deltafifo/fast"
)

// recorder returns a Trace with every hook set, and a function that returns the calls since it was
// last called.
func recorder() (*deltafifo.Trace[*object], func() []string) {
	log := []string{}
	return deltafifotest.NewTrace(&log), func() []string {
		defer func() { log = []string{} }()
		return log
	}
}

func TestTrace(t *testing.T) {
	trace, reported := recorder()
	store := deltafifotest.NewConsumer(obj("gone", 1))
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store, Trace: trace})

	require.NoError(t, queue.Replace([]*object{obj("a", 1)}, "7"))
	assert.Equal(t, []string{
		"queued a: Replaced a@1, depth 2",
		"queued gone: Deleted gone@1 (inferred), depth 2",
		"replaced at 7: 1 items, 1 tombstones, depth 2",
	}, reported())

	require.NoError(t, queue.Delete(obj("gone", 2)))
	require.NoError(t, queue.Delete(obj("unknown", 1)))
	assert.Equal(t, []string{
		"kept gone: Deleted gone@2, dropped Deleted gone@1 (inferred)",
		"queued gone: Deleted gone@2, depth 2",
		"ignored unknown: Deleted unknown@1",
	}, reported())

	_, err := queue.Pop(func(string, deltas, bool) error {
		require.NoError(t, queue.Update(obj("a", 2)))
		return &deltafifo.ErrRequeue{Err: errors.New("later")}
	})
	assert.EqualError(t, err, "later")
	assert.Equal(t, []string{
		"popped a: Replaced a@1, initial true, depth 1",
		"queued a: Updated a@2, depth 2",
		"processed a: Replaced a@1, later",
		"requeued a: Replaced a@1, Updated a@2, depth 2",
	}, reported())

	_, err = queue.Pop(store.Process)
	require.NoError(t, err)
	_, err = queue.Pop(func(key string, d deltas, initial bool) error {
		require.NoError(t, queue.Add(obj("b", 1)))
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"popped gone: Deleted gone@2, initial true, depth 1",
		"processed gone: Deleted gone@2, <nil>",
		"popped a: Replaced a@1, Updated a@2, initial true, depth 0",
		"queued b: Added b@1, depth 1",
		"processed a: Replaced a@1, Updated a@2, <nil>",
		"synced",
	}, reported())

	require.NoError(t, queue.Resync())
	require.NoError(t, queue.Replace([]*object{obj("a", 3)}, "8"))
	assert.Equal(t, []string{
		"queued a: Sync a@2, depth 2",
		"resynced 1, skipped 0, depth 2",
		"queued b: Deleted b@1 (inferred), depth 2",
		"queued a: Replaced a@3, depth 2",
		"replaced at 8: 1 items, 1 tombstones, depth 2",
	}, reported())
	require.NoError(t, queue.Resync())
	assert.Equal(t, []string{"resynced 0, skipped 1, depth 2"}, reported())

	assert.Panics(t, func() {
		_, _ = queue.Pop(func(string, deltas, bool) error { panic("boom") })
	})
	queue.Close()
	queue.Close()
	assert.Equal(t, []string{
		"popped b: Added b@1, Deleted b@1 (inferred), initial false, depth 1",
		"processed b: Added b@1, Deleted b@1 (inferred), deltafifo: the process function did not return",
		"closed, depth 1",
	}, reported())
}

// A tentative delete that the store does not confirm is reported as canceled.
func TestTraceReportsCancelledDeletions(t *testing.T) {
	trace, reported := recorder()
	store := deltafifotest.NewConsumer(obj("a", 1))
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store, Trace: trace})
	require.NoError(t, queue.Delete(obj("a", 2)))
	reported()
	_, err := queue.Pop(func(key string, d deltas, initial bool) error {
		require.NoError(t, queue.Replace(nil, "1"))
		return store.Process(key, d, initial)
	})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"popped a: Deleted a@2, initial false, depth 0",
		"queued a: Deleted a@2 (inferred), depth 1",
		"replaced at 1: 0 items, 1 tombstones, depth 1",
		"processed a: Deleted a@2, <nil>",
		"canceled a: Deleted a@2 (inferred)",
	}, reported())
}

type pod struct{ key string }

// A hook that is not set, or a nil Trace, costs one branch. The one allocation is the record of the
// key, which contains its first delta.
func TestAllocations(t *testing.T) {
	for name, trace := range map[string]*deltafifo.Trace[*pod]{"no trace": nil, "no hooks": {}} {
		f := fast.New(deltafifo.Config[*pod]{KeyFunc: func(p *pod) (string, error) { return p.key, nil }, Trace: trace})
		p := &pod{key: "namespace/name"}
		nothing := func(string, deltafifo.Deltas[*pod], bool) error { return nil }
		assert.Equal(t, 1.0, testing.AllocsPerRun(1000, func() {
			_ = f.Add(p)
			_, _ = f.Pop(nothing)
		}), name)
	}
}

// A hook may keep deltas: what waits changes later, and they do not.
func TestHooksMayKeepDeltas(t *testing.T) {
	var kept deltas
	trace := &deltafifo.Trace[*object]{Requeued: func(_ string, d deltas, _ int) { kept = d }}
	store := deltafifotest.NewConsumer(obj("a", 1))
	queue := fast.New(deltafifo.Config[*object]{KeyFunc: deltafifotest.KeyFunc, KnownObjects: store, Trace: trace})
	require.NoError(t, queue.Replace(nil, "1"))
	_, err := queue.Pop(func(string, deltas, bool) error { return &deltafifo.ErrRequeue{} })
	require.NoError(t, err)
	require.NoError(t, queue.Delete(obj("a", 2))) // takes the place of the tombstone
	assert.Equal(t, []string{"a: Deleted a@2"}, waiting(t, queue))
	assert.Equal(t, "Deleted a@1 (inferred)", deltafifotest.DescribeAll(kept), "later deltas change those that the hook Requeued got")
}
