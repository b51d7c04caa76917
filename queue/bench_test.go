package queue_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

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

func benchmarkCycle(b *testing.B, newForm newQueue, config queue.Config[string]) {
	q := newForm(nil, config)
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
	eachForm(b, func(b *testing.B, newForm newQueue) {
		b.Run("nil trace", func(b *testing.B) { benchmarkCycle(b, newForm, queue.Config[string]{}) })
		b.Run("empty trace", func(b *testing.B) {
			benchmarkCycle(b, newForm, queue.Config[string]{Trace: &queue.Trace[string]{}})
		})
		b.Run("metrics", func(b *testing.B) { benchmarkCycle(b, newForm, queue.Config[string]{Metrics: noMetrics{}}) })
	})
}

// The same with more keys than a queue remembers.
func BenchmarkCycleOfManyKeys(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		q := newForm.plain()
		keys := someKeys(100_000)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			q.Add(keys[i%len(keys)])
			key, _ := q.Get()
			q.Done(key)
		}
	})
}

// The same while a thousand keys wait.
func BenchmarkCycleOfAFullQueue(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		q := newForm.plain()
		for _, key := range someKeys(1000) {
			q.Add(key)
		}
		b.ReportAllocs()
		for b.Loop() {
			key, _ := q.Get()
			q.Done(key)
			q.Add(key)
		}
	})
}

// One producer with ever new keys, several workers that do nothing.
func BenchmarkWorkers(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		for _, n := range []int{1, 4} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				q := newForm.plain()
				keys := someKeys(100_000)
				var workers sync.WaitGroup
				for range n {
					workers.Go(func() { work(q) })
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					q.Add(keys[i%len(keys)])
				}
				q.ShutDown()
				workers.Wait()
			})
		}
	})
}

// work takes and gives back keys until q is shut down.
func work(q queue.Interface[string]) {
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		q.Done(key)
	}
}

// Delays of ever new keys that do not end.
func BenchmarkAddAfter(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		q := newForm.plain()
		defer q.ShutDown()
		keys := someKeys(b.N)
		b.ReportAllocs()
		b.ResetTimer()
		for _, key := range keys {
			q.AddAfter(key, time.Hour)
		}
		b.StopTimer()
	})
}

// The first failure of ever new keys.
func BenchmarkAddRateLimited(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		limiter := queue.NewItemExponentialFailureRateLimiter[string](time.Hour, 1000*time.Hour)
		q := newForm(limiter, queue.Config[string]{})
		defer q.ShutDown()
		keys := someKeys(b.N)
		b.ReportAllocs()
		b.ResetTimer()
		for _, key := range keys {
			q.AddRateLimited(key)
		}
		b.StopTimer()
	})
}
