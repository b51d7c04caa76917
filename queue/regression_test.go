package queue_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
	"orrery/queue/fast"
	"orrery/queue/queuetest"
)

// Each test is a defect of client-go's workqueue, with its number in kubernetes/kubernetes if it
// has one. queuetest has most of them as capabilities that client-go lacks.

// ShutDownWithDrain returned at once although two keys were queued, because no worker held one.
func TestIssue141079DrainReturnsWithKeysQueued(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			q.Add("a")
			q.Add("b")
			var processed []string
			var worker sync.WaitGroup
			worker.Go(func() {
				time.Sleep(time.Second) // the worker is late
				for {
					key, shutdown := q.Get()
					if shutdown {
						return
					}
					time.Sleep(time.Second)
					processed = append(processed, key)
					q.Done(key)
				}
			})
			began := time.Now()
			q.ShutDownWithDrain()
			assert.Equal(t, []string{"a", "b"}, processed)
			assert.Equal(t, 3*time.Second, time.Since(began))
			worker.Wait()
		})
	})
}

// When the queue became idle, Done woke one goroutine, which need not have been the one in the
// drain.
func TestIssue141079OnlyOneDrainReturns(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			q.Add("a")
			q.Get()
			var drains sync.WaitGroup
			for range 3 {
				drains.Go(q.ShutDownWithDrain)
			}
			synctest.Wait()
			q.Done("a")
			drains.Wait()
		})
	})
}

// Done of a queued key queued it a second time, and two workers held it at once.
func TestIssue141079DoneWithoutGet(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		unknown := 0
		q := newForm(nil, queue.Config[string]{Trace: &queue.Trace[string]{
			DoneUnknown: func(queue.Event[string]) { unknown++ },
		}})
		q.Add("a")
		q.Done("a")
		assert.Equal(t, 1, q.Len())
		assert.Equal(t, 1, unknown)
		q.Get()
		q.Add("a")
		q.Done("a")
		q.Done("a")
		assert.Equal(t, 1, q.Len())
		assert.Equal(t, 2, unknown)
		require.NoError(t, check[string](q))
	})
}

// Add did not cancel a pending AddAfter, and the key was processed a second time.
func TestIssue112325AddOfADelayedKey(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm(queue.NewItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second), queue.Config[string]{})
			defer q.ShutDown()
			q.AddAfter("delayed", 50*time.Millisecond)
			q.AddRateLimited("failed")
			q.Add("delayed")
			q.Add("failed")
			assert.Equal(t, []string{"delayed", "failed"}, takeAll[string](q))
			pass(time.Hour)
			assert.Empty(t, takeAll[string](q))
			require.NoError(t, check[string](q))
		})
	})
}

// One bucket for all keys delayed the last of a thousand failed keys by 90 s.
func TestIssue75577GlobalBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := func(limiter queue.RateLimiter[string]) (longest time.Duration) {
			for i := range 1000 {
				longest = max(longest, limiter.When(fmt.Sprint(i)))
			}
			return longest
		}
		assert.Equal(t, 90*time.Second, longest(queue.DefaultControllerRateLimiter[string]()))
		assert.Equal(t, time.Millisecond, longest(queue.NewItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)))
	})
}

// After ShutDownWithDrain, the goroutine with the delayed keys lived on for up to ten seconds, and
// its ticker forever.
func TestIssue134323NothingIsLeft(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		for name, shutDown := range map[string]func(queue.ObservableInterface[string]){
			"ShutDown":          func(q queue.ObservableInterface[string]) { q.ShutDown() },
			"ShutDownWithDrain": func(q queue.ObservableInterface[string]) { q.ShutDownWithDrain() },
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					before := queuetest.Goroutines()
					fired := 0
					q := newForm(nil, queue.Config[string]{Trace: &queue.Trace[string]{
						DelayEnded: func(queue.Event[string], time.Duration) { fired++ },
					}})
					q.AddAfter("a", time.Second)
					q.AddAfter("b", time.Hour)
					assert.LessOrEqual(t, queuetest.Goroutines(), before, "a delay needs no goroutine")
					shutDown(q)
					assert.LessOrEqual(t, queuetest.Goroutines(), before)
					pass(2 * time.Hour)
					assert.Zero(t, fired)
					require.NoError(t, check[string](q))
				})
			})
		}
	})
}

// A queue with metrics had a goroutine of its own, which outlived ShutDown.
func TestIssue135072MetricsNeedNoGoroutine(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			before := queuetest.Goroutines()
			q := newForm(nil, queue.Config[string]{Name: "q", Metrics: queuetest.NoMetrics{}})
			q.Add("a")
			q.UpdateMetrics()
			assert.LessOrEqual(t, queuetest.Goroutines(), before)
		})
	})
}

// Concurrent ShutDown and ShutDownWithDrain must both return.
func TestIssue119554ShutDownWhileDraining(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		for range 200 {
			synctest.Test(t, func(t *testing.T) {
				q := newForm.plain()
				q.Add("a")
				q.Get() // and no Done
				var both sync.WaitGroup
				both.Go(q.ShutDownWithDrain)
				both.Go(func() {
					for !q.ShuttingDown() { // it is ShutDown that comes second
						runtime.Gosched()
					}
					q.ShutDown()
				})
				both.Wait()
			})
		}
	})
}

// The delayed keys went through a channel with a thousand places; once it was full, AddAfter
// blocked.
func TestAddAfterNeverBlocks(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			var q queue.ObservableInterface[string]
			added := 0
			q = newForm(nil, queue.Config[string]{Trace: &queue.Trace[string]{
				// Runs in the goroutine that queues delayed keys.
				DelayEnded: func(queue.Event[string], time.Duration) {
					for i := range 3000 {
						q.AddAfter(fmt.Sprint(i), time.Hour)
						added++
					}
				},
			}})
			q.AddAfter("first", time.Second)
			pass(time.Minute)
			assert.Equal(t, 3000, added)
			q.ShutDown()
		})
	})
}

// The timer does not keep a queue alive that was shut down.
func TestIssue134323TheTimerIsStopped(t *testing.T) {
	t.Run("textbook", func(t *testing.T) { testTimerIsStopped(t, queue.NewDelaying[string]) })
	t.Run("fast", func(t *testing.T) { testTimerIsStopped(t, fast.NewDelaying[string]) })
}

func testTimerIsStopped[Q any, P interface {
	*Q
	queue.DelayingInterface[string]
}](t *testing.T, newDelaying func(queue.Config[string]) P) {
	abandon := func(shutDown bool) weak.Pointer[Q] {
		q := newDelaying(queue.Config[string]{})
		q.AddAfter("a", 24*time.Hour)
		if shutDown {
			q.ShutDown()
		}
		return weak.Make((*Q)(q))
	}
	ended, running := abandon(true), abandon(false)
	runtime.GC()
	assert.True(t, ended.Value() == nil, "the timer of a queue that is shut down keeps it in memory")
	require.NotNil(t, running.Value(), "otherwise this test shows nothing")
	P(running.Value()).ShutDown()
}
