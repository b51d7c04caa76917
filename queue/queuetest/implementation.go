package queuetest

import (
	"time"

	"orrery/queue"
)

// Implementation adapts a work queue to the suite. A nil constructor means that there is no such
// kind of queue; its part of the suite is left out. A queue that is going to have delays can begin
// with New.
type Implementation struct {
	// New returns a new base queue.
	New func() queue.Interface[string]
	// NewDelaying returns a new delaying queue.
	NewDelaying func() queue.DelayingInterface[string]
	// NewRateLimiting returns a new queue that asks limiter for its delays.
	NewRateLimiting func(limiter queue.RateLimiter[string]) queue.RateLimitingInterface[string]
	// NewObservable returns a new queue with hooks and snapshots.
	NewObservable func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]
	// NewWithMetrics returns a new queue with metrics. update returns when the gauges are up to
	// date.
	NewWithMetrics func(name string, provider queue.MetricsProvider) (q queue.DelayingInterface[string], update func())

	// Limiters has the rate limiters.
	Limiters *Limiters

	// Check checks the invariants of a queue that one of the constructors returned, after each step
	// of the property tests. Optional.
	Check func(q queue.Interface[string]) error

	// Lacks names the capabilities that the implementation lacks, with the reasons.
	Lacks map[Capability]string
}

// Limiters are the constructors of rate limiters.
type Limiters struct {
	Exponential func(base, max time.Duration) queue.RateLimiter[string]
	Bucket      func(qps float64, burst int) queue.RateLimiter[string]
	MaxOf       func(limiters ...queue.RateLimiter[string]) queue.RateLimiter[string]
	// Controller returns the default limiter of a controller.
	Controller func() queue.RateLimiter[string]
}

// Capability names a deliberate difference between package queue and client-go.
type Capability string

const (
	// IgnoresUnknownDone: Done of a key that no worker holds changes nothing. Without it, Done of a
	// queued key queues it twice, and two workers can hold it at once.
	IgnoresUnknownDone Capability = "Done of a key that no worker holds is ignored"
	// DrainsQueued: ShutDownWithDrain waits until no key is queued. Without it, it waits only until
	// no worker holds a key.
	DrainsQueued Capability = "ShutDownWithDrain waits for queued keys"
	// WakesEveryDrain: if two goroutines wait in ShutDownWithDrain, both return. Without it, one of
	// them may wait forever.
	WakesEveryDrain Capability = "every ShutDownWithDrain returns"
	// EndsEveryDrain: ShutDown ends each drain in progress. Without it, the second ShutDown of a
	// delaying queue does nothing.
	EndsEveryDrain Capability = "a second ShutDown ends a drain too"
	// AddCancelsDelay: Add of a delayed key cancels the delay. Without it, the key is queued a
	// second time when the delay ends.
	AddCancelsDelay Capability = "Add cancels a pending delay"
	// AddAfterIsAtOnce: AddAfter has taken effect when it returns. Without it, a later call may
	// overtake it.
	AddAfterIsAtOnce Capability = "AddAfter has taken effect when it returns"
	// KeepsOrderOfEqualDelays: equal deadlines keep the order of their AddAfter calls. Without it,
	// any order is right.
	KeepsOrderOfEqualDelays Capability = "equal delays end in the order of AddAfter"
	// DrainLeavesNothing: no goroutine is left when ShutDownWithDrain returns. Without it, one may
	// run until it next checks the queue.
	DrainLeavesNothing Capability = "ShutDownWithDrain leaves no goroutine behind"
)

var capabilities = []Capability{
	IgnoresUnknownDone, DrainsQueued, WakesEveryDrain, EndsEveryDrain,
	AddCancelsDelay, AddAfterIsAtOnce, KeepsOrderOfEqualDelays, DrainLeavesNothing,
}

func (impl Implementation) has(c Capability) bool {
	_, lacks := impl.Lacks[c]
	return !lacks
}
