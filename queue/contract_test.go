package queue_test

import (
	"testing"
	"time"

	"orrery/queue"
	"orrery/queue/queuetest"
)

func TestContract(t *testing.T) {
	queuetest.Run(t, implementation())
}

func implementation() queuetest.Implementation {
	type limiter = queue.RateLimiter[string]
	return queuetest.Implementation{
		New: func() queue.Interface[string] { return queue.New(queue.Config[string]{}) },
		NewDelaying: func() queue.DelayingInterface[string] {
			return queue.NewDelaying(queue.Config[string]{})
		},
		NewRateLimiting: func(l limiter) queue.RateLimitingInterface[string] {
			return queue.NewRateLimiting(l, queue.Config[string]{})
		},
		NewObservable: newTextbook,
		NewWithMetrics: func(name string, provider queue.MetricsProvider) (queue.DelayingInterface[string], func()) {
			q := queue.NewDelaying(queue.Config[string]{Name: name, Metrics: provider})
			return q, q.UpdateMetrics
		},
		Limiters: &queuetest.Limiters{
			Exponential: func(base, max time.Duration) limiter {
				return queue.NewItemExponentialFailureRateLimiter[string](base, max)
			},
			Bucket:     func(qps float64, burst int) limiter { return queue.NewBucketRateLimiter[string](qps, burst) },
			MaxOf:      func(all ...limiter) limiter { return queue.NewMaxOfRateLimiter(all...) },
			Controller: func() limiter { return queue.DefaultControllerRateLimiter[string]() },
		},
	}
}
