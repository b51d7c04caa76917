package queue_test

import (
	"testing"

	"orrery/queue"
	"orrery/queue/fast"
)

// newQueue makes a queue of one form.
type newQueue func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]

func newTextbook(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
	return queue.NewRateLimiting(limiter, config)
}

func newFast(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
	return fast.NewRateLimiting(limiter, config)
}

// eachForm runs a test with both forms of the queue.
func eachForm[T interface {
	testing.TB
	Run(string, func(T)) bool
}](t T, test func(T, newQueue)) {
	t.Run("textbook", func(t T) { test(t, newTextbook) })
	t.Run("fast", func(t T) { test(t, newFast) })
}

// plain returns a queue without metrics, hooks and rate limits.
func (newForm newQueue) plain() queue.ObservableInterface[string] {
	return newForm(nil, queue.Config[string]{})
}

// takeAll takes and gives back what waits.
func takeAll[K comparable](q queue.Interface[K]) (keys []K) {
	for q.Len() > 0 {
		if len(keys) > 100_000 {
			panic("keys come back after Done although they were not added again")
		}
		key, _ := q.Get()
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

// check looks at the invariants of a queue that knows them.
func check[K comparable](q queue.Interface[K]) error {
	if q, ok := q.(interface{ Check() error }); ok {
		return q.Check()
	}
	return nil
}
