package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
	"orrery/wait"
)

// Each test is a defect of client-go's workqueue, as far as it has one with its
// number in kubernetes/kubernetes. queuetest has most of them a second time, as
// capabilities that the original lacks.

// Two keys are queued, no worker holds one: ShutDownWithDrain returned at once.
func TestIssue141079DrainReturnsWithKeysQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
		q.Add("a")
		q.Add("b")
		var processed []string
		var worker sync.WaitGroup
		worker.Go(func() {
			time.Sleep(time.Second) // it is late
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
}

// Done when the queue became idle woke one goroutine, and that need not be the
// one that waited for it.
func TestIssue141079OnlyOneDrainReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Config[string]{})
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
}

// Done of a key that waited put it into the queue a second time, and two workers
// held it at once.
func TestIssue141079DoneWithoutGet(t *testing.T) {
	unknown := 0
	q := queue.New(queue.Config[string]{Trace: &queue.Trace[string]{
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
	require.NoError(t, q.Check())
}

// Add left a pending AddAfter alone, and the key came a second time.
func TestIssue112325AddOfADelayedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewRateLimiting(queue.DefaultItemBasedRateLimiter[string](), queue.Config[string]{})
		defer q.ShutDown()
		q.AddAfter("delayed", 50*time.Millisecond)
		q.AddRateLimited("failed")
		q.Add("delayed")
		q.Add("failed")
		assert.Equal(t, []string{"delayed", "failed"}, takeAll(q))
		pass(time.Hour)
		assert.Empty(t, takeAll(q))
		require.NoError(t, q.Check())
	})
}

// A key that fails while events about it keep coming: each event let it through,
// each attempt counted, and the back-off was at its maximum within seconds.
func TestIssue136853BackoffInflation(t *testing.T) {
	attempts := func(hold bool) (attempts, requeues int) {
		synctest.Test(t, func(t *testing.T) {
			q := queue.NewRateLimiting(
				queue.NewItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second),
				queue.Config[string]{HoldBackoff: hold})
			var worker sync.WaitGroup
			worker.Go(func() {
				for {
					key, shutdown := q.Get()
					if shutdown {
						return
					}
					attempts++
					q.AddRateLimited(key)
					q.Done(key)
				}
			})
			for range 200 { // two seconds full of news
				q.Add("a")
				time.Sleep(10 * time.Millisecond)
			}
			requeues = q.NumRequeues("a")
			q.ShutDown()
			worker.Wait()
		})
		return attempts, requeues
	}
	got, requeues := attempts(false)
	assert.GreaterOrEqual(t, got, 200, "Add is for whom news is worth an attempt")
	assert.Equal(t, got, requeues, "and the next wait is the longest possible")

	got, requeues = attempts(true)
	assert.Equal(t, 9, got, "5+10+20+...+640 ms make 1.3 s; the next would come after 2.5 s")
	assert.Equal(t, 9, requeues)
}

// One bucket for all keys let the last of a thousand that failed once wait for
// 90 s.
func TestIssue75577GlobalBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := func(limiter queue.RateLimiter[string]) (longest time.Duration) {
			for i := range 1000 {
				longest = max(longest, limiter.When(fmt.Sprint(i)))
			}
			return longest
		}
		assert.Equal(t, 90*time.Second, longest(queue.DefaultControllerRateLimiter[string]()))
		assert.Equal(t, time.Millisecond, longest(queue.DefaultItemBasedRateLimiter[string]()))
	})
}

// After ShutDownWithDrain the goroutine with the delayed keys lived on for up
// to ten seconds, and its ticker for ever.
func TestIssue134323NothingIsLeft(t *testing.T) {
	for name, shutDown := range map[string]func(*queue.DelayingQueue[string]){
		"ShutDown":          func(q *queue.DelayingQueue[string]) { q.ShutDown() },
		"ShutDownWithDrain": func(q *queue.DelayingQueue[string]) { q.ShutDownWithDrain() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				before := runtime.NumGoroutine()
				fired := 0
				q := queue.NewDelaying(queue.Config[string]{Trace: &queue.Trace[string]{
					DelayEnded: func(queue.Event[string], time.Duration) { fired++ },
				}})
				q.AddAfter("a", time.Second)
				q.AddAfter("b", time.Hour)
				assert.LessOrEqual(t, runtime.NumGoroutine(), before, "a delay is no goroutine")
				shutDown(q)
				assert.LessOrEqual(t, runtime.NumGoroutine(), before)
				pass(2 * time.Hour)
				assert.Zero(t, fired)
				require.NoError(t, q.Check())
			})
		})
	}
}

// Nor does the timer keep a queue alive that was shut down.
func TestIssue134323TheTimerIsStopped(t *testing.T) {
	abandon := func(shutDown bool) weak.Pointer[queue.DelayingQueue[string]] {
		q := queue.NewDelaying(queue.Config[string]{})
		q.AddAfter("a", 24*time.Hour)
		if shutDown {
			q.ShutDown()
		}
		return weak.Make(q)
	}
	ended, running := abandon(true), abandon(false)
	runtime.GC()
	assert.Nil(t, ended.Value())
	require.NotNil(t, running.Value(), "otherwise this test shows nothing")
	running.Value().ShutDown()
}

// A queue with metrics had a goroutine of its own, and ShutDown returned before
// it had ended.
func TestIssue135072MetricsNeedNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		q := queue.New(queue.Config[string]{Name: "q", Metrics: noMetrics{}})
		q.Add("a")
		q.UpdateMetrics()
		assert.LessOrEqual(t, runtime.NumGoroutine(), before)
	})
}

// ShutDown and ShutDownWithDrain at the same time must both return.
func TestIssue119554ShutDownWhileDraining(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			q := queue.New(queue.Config[string]{})
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
}

// The delayed keys went through a channel with a thousand places; whoever came
// after that had to wait for the goroutine at its other end.
func TestAddAfterNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q *queue.DelayingQueue[int]
		added := 0
		q = queue.NewDelaying(queue.Config[int]{Trace: &queue.Trace[int]{
			// In the goroutine that hands over delayed keys.
			DelayEnded: func(queue.Event[int], time.Duration) {
				for i := range 3000 {
					q.AddAfter(i+10, time.Hour)
					added++
				}
			},
		}})
		q.AddAfter(1, time.Second)
		pass(time.Minute)
		assert.Equal(t, 3000, added)
		q.ShutDown()
	})
}

// base·2ⁿ that is exactly one more than the largest duration became negative.
func TestExponentialOfAPowerOfTwo(t *testing.T) {
	limiter := queue.NewItemExponentialFailureRateLimiter[string](time.Nanosecond, math.MaxInt64)
	last := time.Duration(0)
	for range 70 {
		wait := limiter.When("a")
		require.GreaterOrEqual(t, wait, last)
		last = wait
	}
	assert.Equal(t, time.Duration(math.MaxInt64), last)
}

// A piece that panics must not take a worker away from the others.
func TestParallelizeUntilPanic(t *testing.T) {
	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
	var seen []any
	defer wait.PanicHandlers.Replace(func(_ context.Context, p *wait.Panic) { seen = append(seen, p.Value) })()

	oops := errors.New("oops")
	done := 0
	queue.ParallelizeUntil(t.Context(), 1, 10, func(piece int) {
		if piece == 3 {
			panic(oops)
		}
		done++
	})
	assert.Equal(t, []any{oops}, seen)
	assert.Equal(t, 9, done)
}
