package queuetest

import (
	"time"

	"orrery/queue"
)

// Implementation is a work queue brought to one shape. A constructor that is
// nil says that there is no such kind of queue; its part of the suite does not
// exist for this implementation. A queue that is going to have delays can begin
// with New.
type Implementation struct {
	// New makes a base queue.
	New func() queue.Interface[string]
	// NewDelaying makes a queue that takes delayed keys.
	NewDelaying func() queue.DelayingInterface[string]
	// NewRateLimiting makes a queue that asks limiter for its delays.
	NewRateLimiting func(limiter queue.RateLimiter[string]) queue.RateLimitingInterface[string]
	// NewObservable makes a queue with hooks and snapshots.
	NewObservable func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]
	// NewWithMetrics makes a queue with metrics. update returns when the gauges
	// are up to date.
	NewWithMetrics func(name string, provider queue.MetricsProvider) (q queue.DelayingInterface[string], update func())

	// Limiters has the rate limiters.
	Limiters *Limiters

	// Check looks at the invariants of a queue that one of the constructors
	// made, after each step of the property tests. Optional.
	Check func(q queue.Interface[string]) error

	// Lacks names what the implementation does not do, with the reason.
	Lacks map[Capability]string
}

// Limiters are the constructors of rate limiters.
type Limiters struct {
	Exponential func(base, max time.Duration) queue.RateLimiter[string]
	Bucket      func(qps float64, burst int) queue.RateLimiter[string]
	MaxOf       func(limiters ...queue.RateLimiter[string]) queue.RateLimiter[string]
	// Controller is the limiter that a controller gets by default.
	Controller func() queue.RateLimiter[string]
}

// Capability names something in which package queue deliberately differs from the
// client-go.
type Capability string

const (
	// IgnoresUnknownDone: Done of a key that no worker holds changes nothing.
	// Without it, Done of a key that waits queues it twice, and two workers can
	// hold it at once.
	IgnoresUnknownDone Capability = "Done of a key that no worker holds is ignored"
	// DrainsQueued: ShutDownWithDrain waits until nothing is queued. Without
	// it, it waits only until no worker holds a key.
	DrainsQueued Capability = "ShutDownWithDrain waits for queued keys"
	// WakesEveryDrain: if two goroutines wait in ShutDownWithDrain, both return.
	// Without it one of them may wait for ever.
	WakesEveryDrain Capability = "every ShutDownWithDrain returns"
	// EndsEveryDrain: ShutDown ends each drain that is in progress. Without it
	// the second ShutDown of a delaying queue does nothing at all.
	EndsEveryDrain Capability = "a second ShutDown ends a drain too"
	// AddCancelsDelay: Add of a delayed key gives up the delay. Without it the
	// key comes a second time when the delay ends.
	AddCancelsDelay Capability = "Add gives up a pending delay"
	// AddAfterIsAtOnce: AddAfter has taken effect when it returns. Without it, it
	// takes effect a little later, and what is done in between comes first.
	AddAfterIsAtOnce Capability = "AddAfter has taken effect when it returns"
	// KeepsOrderOfEqualDelays: keys whose delays end at the same time come in
	// the order in which they were added. Without it any order is right.
	KeepsOrderOfEqualDelays Capability = "equal delays end in the order of AddAfter"
	// DrainLeavesNothing: no goroutine is left when ShutDownWithDrain returns.
	// Without it one may live until it looks at the queue the next time.
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
