package queue_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"orrery/queue"
	"orrery/queue/queuetest"
)

func benchmarkCycle(b *testing.B, newForm newQueue, config queue.Config[string]) {
	q := newForm(nil, config)
	keys := queuetest.Keys(1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.Add(keys[i%len(keys)])
		key, _ := q.Get()
		q.Done(key)
	}
}

// BenchmarkCycle measures Add, Get and Done of one key in an empty queue, in one goroutine.
func BenchmarkCycle(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		b.Run("nil trace", func(b *testing.B) { benchmarkCycle(b, newForm, queue.Config[string]{}) })
		b.Run("empty trace", func(b *testing.B) {
			benchmarkCycle(b, newForm, queue.Config[string]{Trace: &queue.Trace[string]{}})
		})
		b.Run("metrics", func(b *testing.B) { benchmarkCycle(b, newForm, queue.Config[string]{Metrics: queuetest.NoMetrics{}}) })
	})
}

// BenchmarkCycleOfManyKeys is BenchmarkCycle with more keys than a queue caches.
func BenchmarkCycleOfManyKeys(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		q := newForm.plain()
		keys := queuetest.Keys(100_000)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			q.Add(keys[i%len(keys)])
			key, _ := q.Get()
			q.Done(key)
		}
	})
}

// BenchmarkCycleOfAFullQueue is BenchmarkCycle while a thousand keys are queued.
func BenchmarkCycleOfAFullQueue(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		q := newForm.plain()
		for _, key := range queuetest.Keys(1000) {
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

// BenchmarkWorkers has one producer of new keys and several workers that do nothing.
func BenchmarkWorkers(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		for _, n := range []int{1, 4} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				q := newForm.plain()
				keys := queuetest.Keys(100_000)
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

// BenchmarkAddAfter measures delays of new keys that do not end.
func BenchmarkAddAfter(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		q := newForm.plain()
		defer q.ShutDown()
		keys := queuetest.Keys(b.N)
		b.ReportAllocs()
		b.ResetTimer()
		for _, key := range keys {
			q.AddAfter(key, time.Hour)
		}
		b.StopTimer()
	})
}

// BenchmarkAddRateLimited measures the first failure of new keys.
func BenchmarkAddRateLimited(b *testing.B) {
	eachForm(b, func(b *testing.B, newForm newQueue) {
		limiter := queue.NewItemExponentialFailureRateLimiter[string](time.Hour, 1000*time.Hour)
		q := newForm(limiter, queue.Config[string]{})
		defer q.ShutDown()
		keys := queuetest.Keys(b.N)
		b.ReportAllocs()
		b.ResetTimer()
		for _, key := range keys {
			q.AddRateLimited(key)
		}
		b.StopTimer()
	})
}
