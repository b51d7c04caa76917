package controller

import (
	"context"
	"fmt"
	"time"

	"orrery/informer"
	"orrery/internal/hooks"
	"orrery/queue"
)

// PoolConfig is what a pool needs. Reconcile is required; the zero value of everything else works.
type PoolConfig struct {
	// Name of the queue in metrics and snapshots.
	Name string
	// Reconcile makes one pass over the object with this key. after is when the key is due again
	// although nothing has failed; 0 means at the next event. After an error the rate limiter
	// decides instead.
	Reconcile func(ctx context.Context, key string) (after time.Duration, err error)
	// Keys returns the keys of all existing objects. Run begins with them, because Add drops what
	// comes before. Default: none.
	Keys func() []string
	// Delay returns how long a key must still wait before a pass; 0 is not at all. It is asked
	// before each pass. Default: no key waits.
	Delay func(key string) time.Duration
	// Synced must all return true before the first pass: HasSynced of the informers whose stores
	// Reconcile reads.
	Synced []informer.InformerSynced

	// Workers is how many keys are worked on at a time. Default 5, kube-controller-manager's number
	// for most controllers.
	Workers int
	// DrainTimeout is how long Run may take to finish queued keys and running passes after stop is
	// done. Default 20 seconds.
	DrainTimeout time.Duration
	// PassTimeout is how long a pass may take. Default 2 minutes; negative is no limit.
	PassTimeout time.Duration
	// RateLimiter decides when a failed key is retried. Default: after 5 ms, doubled with each
	// failure up to 60 s, per key.
	RateLimiter queue.RateLimiter[string]
	// NewQueue makes the work queue. Default: the textbook's, queue.NewRateLimiting.
	NewQueue func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]
	// QueueTrace observes the queue. Default: none.
	QueueTrace *queue.Trace[string]
	// QueueMetrics makes the queue's metrics. Default: none. See [Pool.UpdateMetrics].
	QueueMetrics queue.MetricsProvider
	// Trace observes the passes. Default: none.
	Trace *PoolTrace
}

// PoolTrace is a set of hooks that are called as the pool works. The pointer and each hook may be
// nil. Hooks run on the goroutine of the worker and must not block. One that panics before the pass
// is done makes it fail.
type PoolTrace struct {
	// PassContext returns the context of a pass: ctx, or one that is derived from it.
	PassContext func(ctx context.Context, key string) context.Context
	// PassStarted: a worker begins a pass.
	PassStarted func(key string)
	// PassStuck: a pass has been running for [StuckAfter], for twice that, and so on; waiting is
	// how many keys wait for a worker. It is called on a goroutine of its own, and a panic goes to
	// [wait.HandleCrash].
	PassStuck func(key string, running time.Duration, waiting int)
	// PassDone: the pass is over, and due again after that time if that is positive. failures
	// counts the failed passes since the last one that succeeded. err is a [*wait.Panic] if the
	// pass panicked.
	PassDone func(key string, took time.Duration, failures int, after time.Duration, err error)
}

// ErrPassTimeout is the error of a pass that took longer than PoolConfig.PassTimeout: a request was
// not answered, or there was too much to do. It is a context.DeadlineExceeded.
var ErrPassTimeout = fmt.Errorf("the pass exceeded its time limit, the next one continues: %w",
	context.DeadlineExceeded)

// ErrCutShort is the error of a pass that was still running when PoolConfig.DrainTimeout was over.
// It is a context.Canceled.
var ErrCutShort = fmt.Errorf("the controller is stopping, and the time to finish the pass has passed: %w",
	context.Canceled)

// RequeueAfterError is the error of a pass that has not failed: what it waits for takes time. The
// key is due again after RequeueAfter, and the rate limiter is left alone. Reconcile may return
// one.
type RequeueAfterError interface {
	error
	RequeueAfter() time.Duration
}

const (
	defaultWorkers      = 5
	defaultDrainTimeout = 20 * time.Second
	defaultPassTimeout  = 2 * time.Minute
	firstRetry          = 5 * time.Millisecond
	lastRetry           = time.Minute
)

// withDefaults returns the configuration with a value in every optional field.
func (c PoolConfig) withDefaults() PoolConfig {
	c.Workers = orDefault(c.Workers, defaultWorkers)
	c.DrainTimeout = orDefault(c.DrainTimeout, defaultDrainTimeout)
	if c.PassTimeout == 0 {
		c.PassTimeout = defaultPassTimeout
	}
	if c.Keys == nil {
		c.Keys = func() []string { return nil }
	}
	if c.Delay == nil {
		c.Delay = func(string) time.Duration { return 0 }
	}
	if c.RateLimiter == nil {
		c.RateLimiter = queue.NewItemExponentialFailureRateLimiter[string](firstRetry, lastRetry)
	}
	if c.NewQueue == nil {
		c.NewQueue = func(limiter queue.RateLimiter[string],
			config queue.Config[string]) queue.ObservableInterface[string] {
			return queue.NewRateLimiting(limiter, config)
		}
	}
	c.Trace = hooks.Complete(c.Trace, "PassStuck")
	return c
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value <= 0 {
		return fallback
	}
	return value
}
