package fast_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
	"orrery/queue/fast"
	"orrery/queue/queuetest"
)

// TestAllocations: frequent operations allocate nothing, with or without hooks.
func TestAllocations(t *testing.T) {
	calls := 0
	for name, config := range map[string]queue.Config[string]{
		"nil trace":   {},
		"empty trace": {Trace: &queue.Trace[string]{}},
		"trace": {Trace: &queue.Trace[string]{
			Added: func(queue.Event[string]) { calls++ },
			Got:   func(queue.Event[string], time.Duration) { calls++ },
			Done:  func(queue.Event[string], time.Duration) { calls++ },
		}},
		"metrics": {Metrics: queuetest.NoMetrics{}},
	} {
		t.Run(name, func(t *testing.T) {
			q := fast.NewRateLimiting(queue.NewItemExponentialFailureRateLimiter[string](time.Hour, time.Hour), config)
			defer q.ShutDown()
			keys := queuetest.Keys(100)
			next := 0
			key := func() string {
				next++
				return keys[next%len(keys)]
			}
			none := func(what string, f func()) {
				t.Helper()
				assert.Zero(t, testing.AllocsPerRun(1000, f), what)
			}
			none("Add, Get, Done", func() {
				q.Add(key())
				k, _ := q.Get()
				q.Done(k)
			})
			none("Add while a worker holds the key", func() {
				q.Add(key())
				k, _ := q.Get()
				q.Add(k)
				q.Done(k)
				q.Get()
				q.Done(k)
			})
			none("AddRateLimited, Add, Get, Forget, Done", func() {
				k := key()
				q.AddRateLimited(k)
				q.Add(k)
				q.Get()
				q.Forget(k)
				q.Done(k)
			})
		})
	}
	assert.Positive(t, calls)
}

func TestSnapshotWithoutClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fast.New(queue.Config[string]{})
		q.Add("a")
		q.Get()
		time.Sleep(time.Hour)
		assert.Equal(t, []queue.ProcessingKey[string]{{Key: "a"}}, q.Snapshot().Processing, "no hook needs the clock")
	})
}
