package queuetest_test

import (
	"testing"

	"orrery/queue"
	"orrery/queue/queuetest"
)

func TestNaive(t *testing.T) {
	queuetest.Run(t, queuetest.Implementation{
		New:         func() queue.Interface[string] { return &queuetest.Naive{} },
		NewDelaying: func() queue.DelayingInterface[string] { return &queuetest.Naive{} },
		NewRateLimiting: func(l queue.RateLimiter[string]) queue.RateLimitingInterface[string] {
			return &queuetest.Naive{Limiter: l}
		},
	})
}
