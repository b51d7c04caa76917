package queue_test

import (
	"fmt"
	"math"
	"runtime"
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

// pass advances the time by d and lets everything due happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

type name struct{ namespace, name string }

func TestKeysOfOtherTypes(t *testing.T) {
	t.Run("textbook", func(t *testing.T) {
		testKeysOfOtherTypes(t, queue.New(queue.Config[name]{}), queue.New(queue.Config[any]{}))
	})
	t.Run("fast", func(t *testing.T) {
		testKeysOfOtherTypes(t, fast.New(queue.Config[name]{}), fast.New(queue.Config[any]{}))
	})
}

func testKeysOfOtherTypes(t *testing.T, names queue.Interface[name], anything queue.Interface[any]) {
	names.Add(name{"ns", "a"})
	names.Add(name{"ns", "b"})
	names.Add(name{"ns", "a"})
	assert.Equal(t, []name{{"ns", "a"}, {"ns", "b"}}, takeAll(names))

	assert.Panics(t, func() { anything.Add([]int{1}) }, "slices are not comparable")
	anything.Add(1)
	anything.Add("1")
	assert.Equal(t, []any{1, "1"}, takeAll(anything), "the panic left nothing behind")
}

type object struct{ _ [100]byte }

// The queue does not keep keys alive that were processed.
func TestKeysAreCollected(t *testing.T) {
	t.Run("textbook", func(t *testing.T) { testKeysAreCollected(t, queue.NewDelaying(queue.Config[*object]{})) })
	t.Run("fast", func(t *testing.T) { testKeysAreCollected(t, fast.NewDelaying(queue.Config[*object]{})) })
}

func testKeysAreCollected(t *testing.T, q queue.DelayingInterface[*object]) {
	var pointers []weak.Pointer[object]
	objects := make([]*object, 1000)
	for i := range objects {
		objects[i] = new(object)
		pointers = append(pointers, weak.Make(objects[i]))
		if i%2 == 0 {
			q.AddAfter(objects[i], time.Hour)
		}
	}
	for _, o := range objects {
		q.Add(o)
	}
	clear(objects)
	q.Add(new(object)) // the queue is not empty at the end
	for range 1000 {
		key, _ := q.Get()
		q.Done(key)
	}
	runtime.GC()
	alive := 0
	for _, p := range pointers {
		if p.Value() != nil {
			alive++
		}
	}
	assert.LessOrEqual(t, alive, 1, "one may still be on the stack")
	require.NoError(t, check[*object](q))
	assert.Equal(t, 1, q.Len()) // q is alive until here
}

func TestDelayThatOverflows(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			pass(time.Hour)
			q.AddAfter("never", math.MaxInt64)
			q.AddAfter("soon", time.Second)
			require.NoError(t, check[string](q))
			pass(time.Hour)
			assert.Equal(t, []string{"soon"}, takeAll[string](q))
			require.NoError(t, check[string](q))
			assert.Len(t, q.Snapshot().Delayed, 1)
			q.ShutDown()
		})
	})
}

func TestNewRateLimitingDefault(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		synctest.Test(t, func(t *testing.T) {
			q := newForm.plain()
			defer q.ShutDown()
			q.AddRateLimited("a")
			assert.Equal(t, []queue.DelayedKey[string]{{Key: "a", In: 5 * time.Millisecond}}, q.Snapshot().Delayed)
		})
	})
}

// A test with an issue in its name is a defect of client-go's workqueue, with its number in
// kubernetes/kubernetes. queuetest has most of them, as capabilities that client-go lacks.

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
			q := newForm(nil, queue.Config[string]{Name: "q", Metrics: queuetest.NoMetrics})
			q.Add("a")
			q.UpdateMetrics()
			assert.LessOrEqual(t, queuetest.Goroutines(), before)
		})
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

func TestExponentialWithoutBase(t *testing.T) {
	for _, base := range []time.Duration{0, -3} {
		limiter := queue.NewItemExponentialFailureRateLimiter[string](base, time.Second)
		for range 100 {
			require.Zero(t, limiter.When("a"))
		}
	}
}

func TestBucketWithoutLimit(t *testing.T) {
	for _, qps := range []float64{0, -1} {
		limiter := queue.NewBucketRateLimiter[string](qps, 1)
		for range 100 {
			assert.Zero(t, limiter.When("a"))
		}
	}
}

func TestBucketExtremes(t *testing.T) {
	limiter := queue.NewBucketRateLimiter[string](1e-300, 0)
	assert.Zero(t, limiter.When("a"), "a burst of 0 counts as 1")
	assert.Greater(t, limiter.When("a"), 100*365*24*time.Hour)
}

// A base·2ⁿ exactly one above the largest duration became negative.
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

// JoinTraces calls the hooks of all traces in the order of the arguments.
func TestJoinTraces(t *testing.T) {
	eachForm(t, func(t *testing.T, newForm newQueue) {
		var heard []string
		hears := func(name string) *queue.Trace[string] {
			return &queue.Trace[string]{
				Added: func(e queue.Event[string]) { heard = append(heard, fmt.Sprint(name, " added ", e)) },
				Got: func(e queue.Event[string], _ time.Duration) {
					heard = append(heard,
						fmt.Sprint(name, " got ", e))
				},
			}
		}
		q := newForm(nil, queue.Config[string]{Trace: queue.JoinTraces(hears("first"), nil, hears("second"))})
		q.Add("a")
		q.Get()
		assert.Equal(t, []string{"first added {a 1}", "second added {a 1}", "first got {a 2}",
			"second got {a 2}"}, heard)
	})
}

func TestMetricBuckets(t *testing.T) {
	buckets := queue.MetricBuckets()
	require.Len(t, buckets, 10)
	assert.Equal(t, 10e-9, buckets[0])
	for i := 1; i < len(buckets); i++ {
		assert.InEpsilon(t, 10, buckets[i]/buckets[i-1], 1e-9)
	}
}
