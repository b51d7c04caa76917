package fast_test

import (
	"testing"

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
