package queue

import "time"

// Config of a queue, of whichever form. The zero value is a first-in-first-out
// queue without metrics and hooks.
type Config[K comparable] struct {
	// Name of the queue in metrics and snapshots. Default: none.
	Name string
	// Metrics makes the counters, histograms and gauges of this queue. Default:
	// no metrics. See ObservableInterface.UpdateMetrics.
	Metrics MetricsProvider
	// Trace holds callbacks for what happens in the queue. Default: none.
	Trace *Trace[K]
}

// Interface is the base work queue. Every method may be called from any
// goroutine.
type Interface[K comparable] interface {
	// Add says that key needs processing. A key waits at most once, however
	// often it is added; a key added while a worker holds it comes back after
	// Done. After ShutDown Add does nothing.
	Add(key K)
	// Len returns the number of keys that wait for a worker: neither those that
	// workers hold nor those that wait for a delay. It is for information only;
	// it may be out of date before the caller looks at it.
	Len() int
	// Get blocks until a key waits and hands it out, or until the queue is shut
	// down and nothing waits; then shutdown is true and key is the zero value.
	// Each key taken must be given back with Done.
	Get() (key K, shutdown bool)
	// Done gives back a key that Get handed out. If the key was added in the
	// meantime it waits again from now on.
	Done(key K)
	// ShutDown makes the queue refuse new keys. Workers still get what waits;
	// once nothing waits Get returns shutdown=true. ShutDown does not block, and
	// it ends every ShutDownWithDrain that is in progress.
	ShutDown()
	// ShutDownWithDrain is ShutDown that returns only when nothing waits and no
	// worker holds a key.
	ShutDownWithDrain()
	// ShuttingDown reports whether ShutDown or ShutDownWithDrain was called.
	ShuttingDown() bool
}

// DelayingInterface is a queue to which keys can be added later.
type DelayingInterface[K comparable] interface {
	Interface[K]
	// AddAfter adds key when after has passed; at once if after is not
	// positive. A key has one delay at most: of two, the one that ends earlier
	// wins. It never blocks.
	AddAfter(key K, after time.Duration)
}

// RateLimitingInterface is a queue that decides itself how long a key that
// failed has to wait.
type RateLimitingInterface[K comparable] interface {
	DelayingInterface[K]
	// AddRateLimited is AddAfter with the delay that the rate limiter gives
	// for one more failure of key.
	AddRateLimited(key K)
	// Forget clears the failures of key, so that its next failure counts as the
	// first. Call it when key succeeded or when it is given up. It is not Done
	// and does not take the place of Done.
	Forget(key K)
	// NumRequeues returns the number of failures of key since the last Forget.
	NumRequeues(key K) int
}

// ObservableInterface is a rate-limiting queue that can be looked into. The
// RateLimitingQueue of each form is one.
type ObservableInterface[K comparable] interface {
	RateLimitingInterface[K]
	// Snapshot returns what is in the queue at this instant.
	Snapshot() Snapshot[K]
	// UpdateMetrics sets the three gauges: depth, unfinished work, longest
	// running processor. Call it when the metrics are read, or now and then:
	//
	//	go wait.Until(q.UpdateMetrics, 500*time.Millisecond, stopCh)
	//
	// It does nothing without metrics. (client-go runs a goroutine for it in
	// each queue.)
	UpdateMetrics()
}

var _ ObservableInterface[string] = (*RateLimitingQueue[string])(nil)

// Snapshot is what is in a queue at one instant, as plain data. A key may be in
// more than one list: with a worker and delayed, for example.
type Snapshot[K comparable] struct {
	Name string
	// Seq is the number of the last event before the snapshot: add the events
	// with larger numbers, and the picture stays complete.
	Seq uint64

	// Queued keys wait for a worker, the next one first.
	Queued []K
	// Processing keys are with workers, the oldest first.
	Processing []ProcessingKey[K]
	// Delayed keys wait for their delay to end, the earliest first.
	Delayed []DelayedKey[K]

	// Waiting is the number of goroutines that are blocked in Get.
	Waiting      int
	ShuttingDown bool
	// Draining says that a ShutDownWithDrain has not returned yet.
	Draining bool
}

// ProcessingKey is a key that a worker holds.
type ProcessingKey[K comparable] struct {
	Key K
	// For is how long the worker has held it. It may be zero if the queue has
	// neither metrics nor a trace with Got or Done: the fast form reads no clock then.
	For time.Duration
	// Dirty says that it was added again and is queued once more after Done.
	Dirty bool
}

// DelayedKey is a key that waits for its delay to end.
type DelayedKey[K comparable] struct {
	Key K
	// In is how long it still waits; negative if it is late.
	In time.Duration
}
