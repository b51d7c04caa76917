package queue

import "time"

// Interface is the base work queue. Every method may be called from any
// goroutine.
type Interface[K comparable] interface {
	// Add says that key needs processing. A key waits at most once, however
	// often it is added; a key added while a worker holds it comes back after
	// Done. After ShutDown Add does nothing.
	Add(key K)
	// Len is the number of keys that wait for a worker: neither those that
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
	// NumRequeues is the number of failures of key since the last Forget.
	NumRequeues(key K) int
}

var (
	_ Interface[string]             = (*Queue[string])(nil)
	_ DelayingInterface[string]     = (*DelayingQueue[string])(nil)
	_ RateLimitingInterface[string] = (*RateLimitingQueue[string])(nil)
)
