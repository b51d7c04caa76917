package fast_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/queue"
	"orrery/queue/fast"
	"orrery/queue/queuetest"
)

func TestContract(t *testing.T) {
	type limiter = queue.RateLimiter[string]
	newObservable := func(l limiter, config queue.Config[string]) queue.ObservableInterface[string] {
		return fast.NewRateLimiting(l, config)
	}
	queuetest.Run(t, queuetest.Implementation{
		New: func() queue.Interface[string] { return fast.New(queue.Config[string]{}) },
		NewDelaying: func() queue.DelayingInterface[string] {
			return fast.NewDelaying(queue.Config[string]{})
		},
		NewRateLimiting: func(l limiter) queue.RateLimitingInterface[string] {
			return newObservable(l, queue.Config[string]{})
		},
		NewObservable: newObservable,
		NewWithMetrics: func(name string, provider queue.MetricsProvider) (queue.DelayingInterface[string], func()) {
			q := fast.NewDelaying(queue.Config[string]{Name: name, Metrics: provider})
			return q, q.UpdateMetrics
		},
		Check: func(q queue.Interface[string]) error { return q.(interface{ Check() error }).Check() },
	})
}

// TestBatchesAreManyCalls performs the same operations on two queues, with batches and key by key,
// and expects equal results.
func TestBatchesAreManyCalls(t *testing.T) {
	for name, config := range map[string]func(events *[]string) queue.Config[string]{
		"plain":  func(*[]string) queue.Config[string] { return queue.Config[string]{} },
		"traced": func(events *[]string) queue.Config[string] { return queue.Config[string]{Trace: noteEvents(events)} },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var batchEvents, singleEvents []string
				batches, singles := fast.New(config(&batchEvents)), fast.New(config(&singleEvents))
				keys := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 400),
					func(i int) string { return fmt.Sprint(i) }), 0, 300)
				var held []string
				t.Repeat(map[string]func(*rapid.T){
					"add": func(t *rapid.T) {
						added := keys.Draw(t, "keys")
						batches.AddAll(added)
						for _, key := range added {
							singles.Add(key)
						}
					},
					"get": func(t *rapid.T) {
						if batches.Len() == 0 {
							t.Skip()
						}
						got := make([]string, rapid.SampledFrom([]int{1, 16, 300}).Draw(t, "room"))
						waiting := batches.Len()
						n, shutdown := batches.GetBatch(got)
						require.False(t, shutdown)
						if name == "plain" {
							require.Equal(t, min(len(got), waiting, fast.MaxBatch), n, "a batch takes what waits")
						} else {
							require.Equal(t, 1, n, "a hook hears of each key before the next one is taken")
						}
						for _, key := range got[:n] {
							require.Positive(t, singles.Len())
							want, _ := singles.Get()
							require.Equal(t, want, key)
						}
						held = append(held, got[:n]...)
					},
					"done": func(t *rapid.T) {
						n := rapid.IntRange(0, len(held)).Draw(t, "n")
						given := append(held[:n:n], "unknown")
						batches.DoneAll(given)
						for _, key := range given {
							singles.Done(key)
						}
						held = held[n:]
					},
					"": func(t *rapid.T) {
						require.NoError(t, batches.Check())
						a, b := batches.Snapshot(), singles.Snapshot()
						require.ElementsMatch(t, b.Queued, a.Queued)
						require.Equal(t, b.Seq, a.Seq)
						require.ElementsMatch(t, b.Processing, a.Processing)
						require.Equal(t, singleEvents, batchEvents)
					},
				})
			})
		})
	}
}

func noteEvents(events *[]string) *queue.Trace[string] {
	note := func(what string) func(queue.Event[string]) {
		return func(e queue.Event[string]) { *events = append(*events, fmt.Sprint(what, e)) }
	}
	return &queue.Trace[string]{Added: note("added"), Coalesced: note("coalesced"), DoneUnknown: note("unknown")}
}

// After the end there is no key, with and without a trace.
func TestGetBatchAfterShutDown(t *testing.T) {
	for name, trace := range map[string]*queue.Trace[string]{"without a trace": nil, "with a trace": {}} {
		q := fast.New(queue.Config[string]{Trace: trace})
		q.ShutDown()
		n, shutdown := q.GetBatch(make([]string, 2))
		assert.Zero(t, n, name)
		assert.True(t, shutdown, name)
	}
}

func TestGetBatchWaits(t *testing.T) {
	for _, trace := range []*queue.Trace[string]{nil, {}} {
		synctest.Test(t, func(t *testing.T) {
			q := fast.New(queue.Config[string]{Trace: trace})
			var got []string
			go func() {
				keys := make([]string, 3)
				for {
					n, shutdown := q.GetBatch(keys)
					if shutdown {
						return
					}
					got = append(got, keys[:n]...)
					q.DoneAll(keys[:n])
				}
			}()
			synctest.Wait()
			assert.Empty(t, got)
			q.AddAll([]string{"a", "b", "c", "d"})
			synctest.Wait()
			assert.Equal(t, []string{"a", "b", "c", "d"}, got)
			q.AddAll(nil)
			q.Add("e")
			q.ShutDownWithDrain()
			synctest.Wait()
			assert.Equal(t, []string{"a", "b", "c", "d", "e"}, got)
			q.AddAll([]string{"too late"})
			assert.Zero(t, q.Len())
		})
	}
}

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
		"metrics": {Metrics: queuetest.NoMetrics},
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
