package queue_test

import (
	"testing"

	"orrery/queue"
	"orrery/queue/fast"
)

// newQueue returns a new queue of one form.
type newQueue func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]

func newTextbook(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
	return queue.NewRateLimiting(limiter, config)
}

func newFast(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
	return fast.NewRateLimiting(limiter, config)
}

// eachForm runs a test against both forms.
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

// takeAll gets and gives back every queued key.
func takeAll[K comparable](q queue.Interface[K]) (keys []K) {
	for q.Len() > 0 {
		if len(keys) > 100_000 {
			panic("Done queues keys again that were not added")
		}
		key, _ := q.Get()
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

// check checks the invariants of a queue that has a Check method.
func check[K comparable](q queue.Interface[K]) error {
	if q, ok := q.(interface{ Check() error }); ok {
		return q.Check()
	}
	return nil
}
