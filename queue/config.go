package queue

import "time"

// Config configures a queue of either form. The zero value is a FIFO queue without metrics or
// hooks.
type Config[K comparable] struct {
	Name    string          // in metrics and snapshots
	Metrics MetricsProvider // creates the queue's metrics; see ObservableInterface.UpdateMetrics
	Trace   *Trace[K]       // callbacks for what happens in the queue
}

// Interface is the base work queue. Every method may be called from any
// goroutine.
//
// # Guarantees
//
//   - A key is queued at most once, and at most one worker holds it.
//   - A worker sees everything that happened before an Add: the key is handed out at least once
//     after it, in the order in which keys were queued (unless the queue was shut down before).
//   - A key has at most one delay, and the earlier deadline wins; Add cancels it. A delay never
//     ends early. Equal ones end in the order of AddAfter.
//   - After ShutDown the queue refuses new keys, still hands out queued ones, and drops delays.
//   - Only Get and ShutDownWithDrain block.
//   - A queue forgets a key when it is done with it.
//   - Hooks of a [Trace], and metrics, run without the lock and may call the queue.
//
// # Goroutines
//
// A queue starts none, with one exception: when delays end, a timer runs a function in a goroutine
// that queues the keys and returns. ShutDown stops the timer and makes the workers' Get return.
//
// # Failure
//
// A key that is never given back with Done stays in processing: it is not handed out again, and
// ShutDownWithDrain does not return until ShutDown is called. Snapshot and the metrics show it. A
// worker that may panic calls Done in a deferred function. A key for which Forget is never called
// stays in the limiter's memory.
//
// Add cancels a key's back-off: the key is processed at once, and a failure then still raises its
// count (kubernetes/kubernetes#136853).
type Interface[K comparable] interface {
	// Add marks key as needing processing. A key is queued at most once, however often it is added.
	// A key added while a worker holds it is queued again after Done. After ShutDown, Add does
	// nothing.
	Add(key K)
	// Len returns the number of queued keys. Keys that workers hold and delayed keys do not count.
	// The result may be out of date before the caller reads it.
	Len() int
	// Get blocks until a key is queued and returns it. Once the queue is shut down and empty, Get
	// returns the zero key and shutdown=true. Every key must be given back with Done.
	Get() (key K, shutdown bool)
	// Done gives back a key that Get returned. If the key was added in the meantime, it is queued
	// again.
	Done(key K)
	// ShutDown makes the queue refuse new keys. Workers still get the queued keys; once the queue
	// is empty, Get returns shutdown=true. ShutDown does not block, and it ends every
	// ShutDownWithDrain in progress.
	ShutDown()
	// ShutDownWithDrain is ShutDown, but returns only when no key is queued and no worker holds
	// one.
	ShutDownWithDrain()
	// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
	ShuttingDown() bool
}

// DelayingInterface is a queue to which keys can be added later.
type DelayingInterface[K comparable] interface {
	Interface[K]
	// AddAfter adds key after the delay, or immediately if the delay is not positive. A key has at
	// most one delay; the earlier deadline wins. AddAfter never blocks.
	AddAfter(key K, after time.Duration)
}

// RateLimitingInterface is a queue that decides how long a failed key is delayed.
type RateLimitingInterface[K comparable] interface {
	DelayingInterface[K]
	// AddRateLimited is AddAfter with the delay that the rate limiter returns for one more failure
	// of key.
	AddRateLimited(key K)
	// Forget clears the failures of key, so that its next failure counts as the first. Call it when
	// key succeeded or is given up. Done must be called as well.
	Forget(key K)
	// NumRequeues returns the number of failures of key since the last Forget.
	NumRequeues(key K) int
}

// ObservableInterface is a rate-limiting queue with snapshots. The RateLimitingQueue of each form
// implements it.
type ObservableInterface[K comparable] interface {
	RateLimitingInterface[K]
	// Snapshot returns the queue's present content.
	Snapshot() Snapshot[K]
	// UpdateMetrics sets the three gauges: depth, unfinished work, longest running processor. Call
	// it before the metrics are read, or periodically:
	//
	//	go wait.Until(q.UpdateMetrics, 500*time.Millisecond, stopCh)
	//
	// It does nothing without metrics. (In client-go, each queue runs a goroutine for this.)
	UpdateMetrics()
}

var _ ObservableInterface[string] = (*RateLimitingQueue[string])(nil)

// Snapshot is the content of a queue at one instant, as plain data. A key may be in more than one
// list, for example with a worker and delayed.
type Snapshot[K comparable] struct {
	Name string
	// Seq is the number of the last event before the snapshot. Applying the events with larger
	// numbers keeps the snapshot up to date.
	Seq uint64

	Queued     []K                // wait for a worker, next first
	Processing []ProcessingKey[K] // are with workers, the oldest first
	Delayed    []DelayedKey[K]    // wait for their delay to end, the earliest first

	Waiting      int // goroutines blocked in Get
	ShuttingDown bool
	Draining     bool // a ShutDownWithDrain is in progress
}

// ProcessingKey is a key that a worker holds.
type ProcessingKey[K comparable] struct {
	Key K
	// For is how long the worker has held the key. It may be zero if the queue has neither metrics
	// nor a trace with Got or Done: the fast form does not read the clock then.
	For   time.Duration
	Dirty bool // the key was added again; Done queues it once more
}

// DelayedKey is a key whose delay has not ended.
type DelayedKey[K comparable] struct {
	Key K
	In  time.Duration // the remaining delay, negative if it is overdue
}
