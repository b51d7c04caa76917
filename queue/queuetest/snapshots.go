package queuetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
)

func runSnapshots(t *testing.T, impl Implementation) {
	bubble(t, "a snapshot shows the queue's content", func(t *testing.T) { testSnapshot(t, impl) })
	bubble(t, "a snapshot does not change", func(t *testing.T) { testSnapshotDoesNotChange(t, impl) })
	bubble(t, "delays are sorted", func(t *testing.T) { testSnapshotOrdersDelays(t, impl) })
	bubble(t, "waiting workers", func(t *testing.T) { testSnapshotOfWaitingWorkers(t, impl) })
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

func testSnapshotDoesNotChange(t *testing.T, impl Implementation) {
	q := impl.NewObservable(nil, queue.Config[string]{})
	q.Add("a")
	q.Add("b")
	s := q.Snapshot()
	q.Get()
	assert.Equal(t, []string{"a", "b"}, s.Queued, "a snapshot does not change")
}

// The heap is no longer sorted once its first delay has ended; the snapshot is.
func testSnapshotOrdersDelays(t *testing.T, impl Implementation) {
	q := impl.NewObservable(nil, queue.Config[string]{})
	defer q.ShutDown()
	q.AddAfter("first", time.Second)
	for _, key := range []string{"a", "b", "c", "d"} {
		q.AddAfter(key, 2*time.Second)
	}
	pass(time.Second)
	var keys []string
	for _, delayed := range q.Snapshot().Delayed {
		keys = append(keys, delayed.Key)
	}
	assert.Equal(t, []string{"a", "b", "c", "d"}, keys, "equal delays keep their order")
}

func testSnapshotOfWaitingWorkers(t *testing.T, impl Implementation) {
	q := impl.NewObservable(nil, queue.Config[string]{})
	go q.Get()
	go q.Get()
	waitIdle()
	assert.Equal(t, 2, q.Snapshot().Waiting, "two goroutines wait in Get")
	q.ShutDown()
	waitIdle()
	assert.Zero(t, q.Snapshot().Waiting, "a goroutine that has returned from Get does not wait any more")
}
