// Package queuetest tests the behaviour of a work queue.
//
// [Run] takes an [Implementation] and asserts what a work queue promises. It runs against the
// textbook form in package queue, against queue/fast, against your own queue, and, in the module
// upstream, against client-go's workqueue, which proves that the suite describes Kubernetes:
//
//	func TestContract(t *testing.T) {
//		queuetest.Run(t, queuetest.Implementation{
//			New: func() queue.Interface[string] { return newMyQueue() },
//		})
//	}
//
// There are three kinds of tests:
//
//   - Scenarios in a testing/synctest bubble, where time is exact. A bubble ends only when all of
//     its goroutines have ended, so a scenario also shows that ShutDown leaves none behind. If
//     ShutDown does not wake a worker, the bubble panics with "deadlock" and the remaining stacks.
//   - Properties: random operations on the queue and on a [spec], a sequential specification, must
//     give the same results.
//   - Linearizability: goroutines use the queue concurrently; then a search looks for an order of
//     their calls in which the spec gives the same results.
//
// Where package queue deliberately differs from client-go, there is a [Capability]. An
// implementation that lacks it gives the reason, and the suite asserts the other behaviour. No test
// is skipped.
package queuetest

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

// Run runs the whole suite against impl.
func Run(t *testing.T, impl Implementation) {
	for c, reason := range impl.Lacks {
		require.Contains(t, capabilities, c, "Lacks names a capability that does not exist")
		require.NotEmpty(t, reason, "Lacks gives no reason for %q", c)
	}
	for _, kind := range impl.kinds() {
		t.Run(kind.name, func(t *testing.T) { runBase(t, impl, kind) })
	}
	if impl.NewDelaying != nil {
		t.Run("Delays", func(t *testing.T) { runDelays(t, impl) })
	}
	if impl.NewRateLimiting != nil {
		t.Run("Rate limits", func(t *testing.T) { runRateLimits(t, impl) })
	}
	if impl.NewWithMetrics != nil {
		t.Run("Metrics", func(t *testing.T) { runMetrics(t, impl) })
	}
	if impl.Limiters != nil {
		t.Run("Limiters", func(t *testing.T) { runLimiters(t, *impl.Limiters) })
	}
	if impl.NewObservable != nil {
		if t.Failed() {
			return // the rest runs partly in real time, where a queue that does not wake its workers never ends
		}
		t.Run("Hooks", func(t *testing.T) { runHooks(t, impl) })
		t.Run("Snapshots", func(t *testing.T) { runSnapshots(t, impl) })
	}
}

// kind is one of an implementation's queues. Each of them is a base queue.
type kind struct {
	name string
	make func() queue.Interface[string]
	// delays reports whether the queue is a DelayingInterface.
	delays bool
}

func (impl Implementation) kinds() (kinds []kind) {
	if impl.New != nil {
		kinds = append(kinds, kind{"Base queue", impl.New, false})
	}
	if impl.NewDelaying != nil {
		kinds = append(kinds, kind{"Delaying queue",
			func() queue.Interface[string] { return impl.NewDelaying() }, true})
	}
	if impl.NewRateLimiting != nil {
		kinds = append(kinds, kind{"Rate limiting queue",
			func() queue.Interface[string] { return impl.NewRateLimiting(newCounting()) }, true})
	}
	return kinds
}

// bubble runs a scenario in a bubble of its own. The first failure ends its part of the suite: a
// broken queue may block a later scenario forever, and the message would be lost.
func bubble(t *testing.T, name string, scenario func(t *testing.T)) {
	if !t.Run(name, func(t *testing.T) { synctest.Test(t, scenario) }) {
		t.FailNow()
	}
}

// ended shuts a queue down when the scenario is over, so that a failed scenario reports its failure
// and not the goroutines that it left behind. The cleanup does not wait: a queue that panicked may
// have left its lock locked. It ignores a panic: ShutDown may still have to be written, and has
// scenarios of its own.
func ended[Q interface{ ShutDown() }](t *testing.T, q Q) Q {
	t.Cleanup(func() {
		go func() {
			defer func() { _ = recover() }()
			q.ShutDown()
		}()
	})
	return q
}

// waitIdle waits until every goroutine in the bubble is durably blocked.
func waitIdle() { synctest.Wait() }

// Goroutines counts the goroutines of the caller's bubble that have not ended. Those of the runtime
// and of other tests, which runtime.NumGoroutine counts too, come and go at any time.
func Goroutines() int {
	synctest.Wait()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	// The first line of a stack: goroutine 9 [select (durable), synctest bubble 4]:
	own, _, _ := bytes.Cut(stacks, []byte("]:\n"))
	_, bubble, _ := bytes.Cut(own, []byte("synctest bubble "))
	return bytes.Count(stacks, []byte("synctest bubble "+string(bubble)+"]:\n"))
}

// pass advances the time by d and lets everything due happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// answer is the result of Get.
type answer struct {
	key      string
	shutdown bool
}

// take gets the next key, which must be queued.
func take(t *testing.T, q queue.Interface[string]) string {
	t.Helper()
	got := takeAsync(q)
	waitIdle()
	select {
	case a := <-got:
		require.False(t, a.shutdown, "Get reports a shutdown instead of returning a key")
		return a.key
	default:
		require.FailNow(t, "Get blocks: no key is queued")
		return ""
	}
}

// takeAsync gets the next key in a new goroutine.
func takeAsync(q queue.Interface[string]) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		key, shutdown := q.Get()
		got <- answer{key, shutdown}
	}()
	return got
}

// takeAll gets and gives back every queued key.
func takeAll(t *testing.T, q queue.Interface[string]) (keys []string) {
	t.Helper()
	waitIdle()
	for q.Len() > 0 {
		require.Less(t, len(keys), 100_000, "Done queues keys again that were not added")
		key := take(t, q)
		keys = append(keys, key)
		q.Done(key)
	}
	return keys
}

// assertEmpty asserts that no key is queued.
func assertEmpty(t *testing.T, q queue.Interface[string], why string) {
	t.Helper()
	waitIdle()
	assert.Zero(t, q.Len(), why)
}

// background runs f in a goroutine and returns a function that reports whether f has returned.
func background(f func()) (returned func() bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return func() bool {
		waitIdle()
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
}

// sorted returns a sorted copy of keys.
func sorted(keys []string) []string {
	return slices.Sorted(slices.Values(keys))
}

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
