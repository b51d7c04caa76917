package queuetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
)

func runSnapshots(t *testing.T, impl Implementation) {
	bubble(t, "a snapshot shows the queue's content", func(t *testing.T) { testSnapshot(t, impl) })
	newQueue := func() queue.ObservableInterface[string] { return impl.NewObservable(nil, queue.Config[string]{}) }
	runScripts(t, impl, newQueue, []script[queue.ObservableInterface[string]]{
		{name: "a snapshot does not change", test: testSnapshotDoesNotChange},
		// The heap is no longer sorted once its first delay has ended; the snapshot is.
		{name: "delays are sorted", calls: `
			after first 1s; after a 2s; after b 2s; after c 2s; after d 2s
			pass 1s; delayed a b c d -- equal delays keep their order`},
		{name: "waiting workers", calls: `
			wait 2; waiting 2 -- two goroutines wait in Get
			shut; woken shutdown shutdown
			waiting 0 -- a goroutine that has returned from Get does not wait any more`},
	})
}

func testSnapshot(t *testing.T, impl Implementation) {
	q := impl.NewObservable(nil, queue.Config[string]{
		Name:  "a queue",
		Trace: &queue.Trace[string]{Got: func(queue.Event[string], time.Duration) {}},
	})
	assert.Equal(t, queue.Snapshot[string]{Name: "a queue"}, q.Snapshot())

	for _, key := range []string{"old", "dirty", "next", "last"} {
		q.Add(key)
	}
	q.Get()
	pass(time.Second)
	q.Get()
	q.Add("dirty")
	q.AddAfter("in 3s", 3*time.Second)
	q.AddAfter("in 2s", 2*time.Second)
	q.AddAfter("old", 2*time.Second)
	pass(time.Second)
	want := queue.Snapshot[string]{
		Name:   "a queue",
		Seq:    10,
		Queued: []string{"next", "last"},
		Processing: []queue.ProcessingKey[string]{
			{Key: "old", For: 2 * time.Second}, {Key: "dirty", For: time.Second, Dirty: true},
		},
		Delayed: []queue.DelayedKey[string]{
			{Key: "in 2s", In: time.Second}, {Key: "old", In: time.Second}, {Key: "in 3s", In: 2 * time.Second},
		},
	}
	assert.Equal(t, want, q.Snapshot())

	go q.ShutDownWithDrain()
	waitIdle()
	want.Delayed, want.ShuttingDown, want.Draining = nil, true, true
	assert.Equal(t, want, q.Snapshot())

	q.ShutDown()
	waitIdle()
	want.Draining = false
	assert.Equal(t, want, q.Snapshot())
}

func testSnapshotDoesNotChange(t *testing.T, q queue.ObservableInterface[string]) {
	q.Add("a")
	q.Add("b")
	s := q.Snapshot()
	q.Get()
	assert.Equal(t, []string{"a", "b"}, s.Queued, "a snapshot does not change")
}
