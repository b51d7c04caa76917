package queue_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
)

// someKeys are as long as those of namespaced objects usually are.
func someKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%04d/some-name-%08d", i%1000, i)
	}
	return keys
}

// noMetrics is a provider whose metrics do nothing, so that what is left is the
// queue's own work for them.
type noMetrics struct{}

type noMetric struct{}

func (noMetric) Inc()            {}
func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

func (noMetrics) NewDepthMetric(string) queue.SettableGaugeMetric                 { return noMetric{} }
func (noMetrics) NewAddsMetric(string) queue.CounterMetric                        { return noMetric{} }
func (noMetrics) NewLatencyMetric(string) queue.HistogramMetric                   { return noMetric{} }
func (noMetrics) NewWorkDurationMetric(string) queue.HistogramMetric              { return noMetric{} }
func (noMetrics) NewUnfinishedWorkSecondsMetric(string) queue.SettableGaugeMetric { return noMetric{} }
func (noMetrics) NewLongestRunningProcessorSecondsMetric(string) queue.SettableGaugeMetric {
	return noMetric{}
}
func (noMetrics) NewRetriesMetric(string) queue.CounterMetric { return noMetric{} }

// TestAllocations: what happens all the time allocates nothing, hooks or not.
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
		"metrics":   {Metrics: noMetrics{}},
		"own order": {Order: &single{}},
	} {
		t.Run(name, func(t *testing.T) {
			q := queue.NewRateLimiting(queue.NewItemExponentialFailureRateLimiter[string](time.Hour, time.Hour), config)
			defer q.ShutDown()
			keys := someKeys(100)
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
			none("AddAfter, Cancel", func() {
				k := key()
				q.AddAfter(k, time.Hour)
				q.Cancel(k)
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

// single is an Order for one key at a time.
type single struct {
	key string
	n   int
}

func (s *single) Push(key string) { s.key, s.n = key, s.n+1 }
func (s *single) Pop() string     { s.n--; return s.key }
func (s *single) Len() int        { return s.n }
func (s *single) Touch(string)    {}

func benchmarkCycle(b *testing.B, config queue.Config[string]) {
	q := queue.New(config)
	keys := someKeys(1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Add(keys[i%len(keys)])
		key, _ := q.Get()
		q.Done(key)
	}
}

// A key's way through an empty queue, in one goroutine.
func BenchmarkCycle(b *testing.B) {
	b.Run("nil trace", func(b *testing.B) { benchmarkCycle(b, queue.Config[string]{}) })
	b.Run("empty trace", func(b *testing.B) {
		benchmarkCycle(b, queue.Config[string]{Trace: &queue.Trace[string]{}})
	})
	b.Run("metrics", func(b *testing.B) { benchmarkCycle(b, queue.Config[string]{Metrics: noMetrics{}}) })
	b.Run("own order", func(b *testing.B) { benchmarkCycle(b, queue.Config[string]{Order: &single{}}) })
}

// The same while a thousand keys wait.
func BenchmarkCycleOfAFullQueue(b *testing.B) {
	q := queue.New(queue.Config[string]{})
	for _, key := range someKeys(1000) {
		q.Add(key)
	}
	b.ReportAllocs()
	for b.Loop() {
		key, _ := q.Get()
		q.Done(key)
		q.Add(key)
	}
}

// One producer with ever new keys, several workers that do nothing.
func BenchmarkWorkers(b *testing.B) {
	for _, n := range []int{1, 4} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			q := queue.New(queue.Config[string]{})
			keys := someKeys(100_000)
			var workers sync.WaitGroup
			for range n {
				workers.Go(func() {
					for {
						key, shutdown := q.Get()
						if shutdown {
							return
						}
						q.Done(key)
					}
				})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				q.Add(keys[i%len(keys)])
			}
			q.ShutDown()
			workers.Wait()
		})
	}
}

// Delays of ever new keys that do not end.
func BenchmarkAddAfter(b *testing.B) {
	q := queue.NewDelaying(queue.Config[string]{})
	defer q.ShutDown()
	keys := someKeys(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for _, key := range keys {
		q.AddAfter(key, time.Hour)
	}
	b.StopTimer()
}

// The first failure of ever new keys.
func BenchmarkAddRateLimited(b *testing.B) {
	q := queue.NewRateLimiting(
		queue.NewItemExponentialFailureRateLimiter[string](time.Hour, 1000*time.Hour), queue.Config[string]{})
	defer q.ShutDown()
	keys := someKeys(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for _, key := range keys {
		q.AddRateLimited(key)
	}
	b.StopTimer()
}
