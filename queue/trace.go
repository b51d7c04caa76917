package queue

import (
	"sync"
	"time"

	"orrery/internal/hooks"
)

// Trace is a set of callbacks for the events of a queue, in the manner of net/http/httptrace. Every
// field may be nil; none may be changed once the trace was passed to a queue. Metrics, logs and
// visualizations are built on it.
//
// A callback runs in the goroutine that caused the event (for the end of a delay: the timer's
// goroutine), after the queue's lock was released and before the causing call returns. So it may
// call the queue, and it delays its caller. Callbacks of different goroutines may run concurrently
// and out of order; Event.Seq has the order.
type Trace[K comparable] struct {
	// Added: the key became dirty; it will be handed out once more. Caused by Add, by AddAfter
	// without delay, or by the end of a delay.
	Added func(Event[K])
	// Coalesced: like Added, but the key was already dirty, so nothing changed.
	Coalesced func(Event[K])
	// Refused: the key was added after the shutdown and is dropped.
	Refused func(Event[K])

	// Delayed: AddAfter was called. The key's delay ends in wait, which is shorter than requested
	// if an earlier deadline was set.
	Delayed func(e Event[K], wait time.Duration)
	// DelayCanceled: Add canceled the key's delay.
	DelayCanceled func(Event[K])
	// DelayEnded: the key's delay ended, late by this much. Added or Coalesced follows.
	DelayEnded func(e Event[K], late time.Duration)

	// Got: Get handed the key out; it had been dirty for waited.
	Got func(e Event[K], waited time.Duration)
	// Done: the key was given back after this long.
	Done func(e Event[K], worked time.Duration)
	// DoneUnknown: Done was called with a key that no worker holds, a mistake in the caller. The
	// queue ignored it.
	DoneUnknown func(Event[K])

	// Retried: AddRateLimited was called. It is failure number requeues since the last Forget, and
	// the rate limiter returned this wait. Delayed follows. The rate limiter is not a part of the
	// queue's history: this event and the next have no Seq.
	Retried func(key K, requeues int, wait time.Duration)
	// Forgotten: Forget was called.
	Forgotten func(key K)

	// ShuttingDown: ShutDown (drain is false) or ShutDownWithDrain (drain is true) was called and
	// dropped this many delays.
	ShuttingDown func(drain bool, dropped int)
}

// Event identifies the key of an event and the event's position in the queue's history.
type Event[K comparable] struct {
	Key K
	// Seq numbers the events of one queue in order, without gaps, starting at 1. Snapshot.Seq is
	// the number of the last event that a snapshot includes.
	Seq uint64
}

// recorder numbers the events of a textbook queue. It has the queue's mutex because it calls the
// hooks after the unlock.
type recorder[K comparable] struct {
	trace Trace[K] // set by init, never changed

	mu           sync.Mutex
	seq          uint64   // guarded by mu: number of the last event
	pendingHooks []func() // guarded by mu: hooks of the call that holds the lock
}

func (r *recorder[K]) lock() { r.mu.Lock() }

// unlock releases the lock and then calls the hooks that were recorded under it.
func (r *recorder[K]) unlock() {
	pendingHooks := r.pendingHooks
	r.pendingHooks = nil
	r.mu.Unlock()
	for _, hook := range pendingHooks {
		hook()
	}
}

// record numbers an event of key. It must be called with mu held.
func (r *recorder[K]) record(hook func(Event[K]), key K) {
	r.seq++
	if e := (Event[K]{key, r.seq}); hook != nil {
		r.pendingHooks = append(r.pendingHooks, func() { hook(e) })
	}
}

// recordTime is record for an event with a duration.
func (r *recorder[K]) recordTime(hook func(Event[K], time.Duration), key K, d time.Duration) {
	r.seq++
	if e := (Event[K]{key, r.seq}); hook != nil {
		r.pendingHooks = append(r.pendingHooks, func() { hook(e, d) })
	}
}

// recordShutDown records a call of ShutDown or ShutDownWithDrain, which has no number.
func (r *recorder[K]) recordShutDown(drain bool, dropped int) {
	if hook := r.trace.ShuttingDown; hook != nil {
		r.pendingHooks = append(r.pendingHooks, func() { hook(drain, dropped) })
	}
}

// JoinTraces returns a trace that calls the callbacks of all traces in the order of the arguments.
// Arguments may be nil; the result is nil if all are.
func JoinTraces[K comparable](traces ...*Trace[K]) *Trace[K] {
	return hooks.Join(traces...)
}
