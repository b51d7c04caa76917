package workloads_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
	. "orrery/internal/lab/bench/workloads"
	"orrery/queue/queuetest"
)

// How a run ends, with and without a result; see contract.

func noGoroutineIsLeft(t *testing.T) {
	before := queuetest.Goroutines()
	run(t, textbook(nil), nil)
	assert.Equal(t, before, queuetest.Goroutines(),
		"no goroutine is left when the run has ended: its workers and producers are waited for")
}

// After Ctrl-C the backlog costs nothing.
func cancelledRun(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	began := time.Now()
	_, err := RunQueue(ctx, textbook(nil), &QueueConfig{Producers: 2, Workers: 1, Keys: 10_000,
		HandlerCost: 500 * time.Millisecond,
		Load:        bench.Load{Distribution: bench.Uniform, Duration: 2 * time.Second, Rate: 100}}, nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded, "a run that was cancelled has no result, and says why")
	assert.Less(t, time.Since(began), 5*time.Second,
		"a worker spends no more cost after the cancellation: the backlog goes at once")
}

func cancelledProducer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	added := 0
	_, err := RunQueue(ctx, textbook(func(q *changed) {
		if q.phase < paced {
			return
		}
		q.add = func(key string) {
			if added++; added == 10 {
				cancel()
			}
			q.Queue.Add(key)
		}
	}), &QueueConfig{Producers: 1, Workers: 1, Keys: 10_000, Load: bench.Load{
		Distribution: bench.Uniform, Duration: time.Second, Rate: 100,
	}}, nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 10, added, "the pacer reports the end of the context: from then on the producer adds nothing")
}

// A harness that is set to stall the queue shows it.
func TestAStallIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		with := run(t, textbook(nil), func(c *QueueConfig) { c.Stall = 500 * time.Millisecond })
		assert.Greater(t, with.Latency.Quantile(0.9), 300*time.Millisecond)
		without := run(t, textbook(nil), nil)
		assert.Less(t, without.Latency.Max(), time.Millisecond)
	})
}
