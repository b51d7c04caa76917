package informer

import (
	"context"
	"sync/atomic"
	"time"

	"orrery/wait"
)

// RegisteredHandler is the handler that a [Processor] sees. It makes the callbacks, and does what
// every processor needs: it counts, traces, recovers panics, and knows when its resync is due.
//
// Run, Call and End must be called on the one goroutine that calls the handler; the other methods
// on any.
type RegisteredHandler[T any] struct {
	handler      ResourceEventHandler[T]
	options      HandlerOptions
	registration *Registration
	trace        *Trace
	resync       resyncSchedule

	stopped atomic.Bool   // drop further events
	added   atomic.Uint64 // events queued for the handler, except merged ones
	merged  atomic.Uint64 // events that were merged into others
	handled atomic.Uint64 // callbacks that have returned, or panicked
	panics  atomic.Uint64
	peak    atomic.Int64 // the maximum number of waiting events

	// current is the event of the running callback. It and onPanic belong to the goroutine.
	current *Notification[T]
	onPanic wait.PanicHandler
}

func newRegisteredHandler[T any](h ResourceEventHandler[T], opts HandlerOptions, r *Registration,
	trace *Trace) *RegisteredHandler[T] {
	out := &RegisteredHandler[T]{handler: h, options: opts, registration: r, trace: trace}
	out.onPanic = out.panicked
	return out
}

// Options returns the options of the handler.
func (h *RegisteredHandler[T]) Options() HandlerOptions { return h.options }

// ShouldResync reports whether the handler's resync is due, and if so schedules the next one.
func (h *RegisteredHandler[T]) ShouldResync(now time.Time) bool { return h.resync.due(now) }

// Queued counts new waiting events, marks excluded, and traces them. number is the number of the
// last. It must be called before the handler can be called with them. Merged events are subtracted
// afterwards by Merged.
func (h *RegisteredHandler[T]) Queued(count int, number uint64) {
	h.Adding(count, number)
	h.measure()
}

// Adding is Queued for events that may be merged. A call of Merged must follow.
func (h *RegisteredHandler[T]) Adding(count int, number uint64) {
	h.added.Add(uint64(count))
	if h.trace.HandlerQueued != nil && count > 0 {
		h.trace.HandlerQueued(h.registration.info, QueuedInfo{Number: number, Count: count, Pending: h.pending()})
	}
}

// Merged reports that this many waiting events have been merged into others.
func (h *RegisteredHandler[T]) Merged(count int) {
	h.added.Add(-uint64(count))
	h.merged.Add(uint64(count))
	h.measure()
	if h.trace.HandlerQueued != nil && count > 0 {
		h.trace.HandlerQueued(h.registration.info, QueuedInfo{Merged: count, Pending: h.pending()})
	}
}

// measure updates the peak. One goroutine at a time calls it.
func (h *RegisteredHandler[T]) measure() {
	if pending := int64(h.pending()); pending > h.peak.Load() {
		h.peak.Store(pending)
	}
}

// pending is the number of unprocessed events, including the present one.
func (h *RegisteredHandler[T]) pending() int {
	// handled first: added never falls behind a value of handled that was read before it.
	handled := h.handled.Load()
	return int(h.added.Load() - handled)
}

// Run calls calls on the handler's goroutine; calls uses Call. Run ends with End, even if a
// callback ends the goroutine with runtime.Goexit, as t.FailNow does.
func (h *RegisteredHandler[T]) Run(calls func()) {
	defer h.End()
	calls()
}

// End reports that no callback is running and none will begin. Run calls it; for a handler that
// never ran the processor does.
func (h *RegisteredHandler[T]) End() {
	h.stopped.Store(true)
	if h.trace.HandlerEnded != nil {
		h.trace.HandlerEnded(h.registration.info, h.pending())
	}
	close(h.registration.ended)
}

// Call makes the callback for an event, which counts as processed in any case. Call does not keep
// n.
func (h *RegisteredHandler[T]) Call(n *Notification[T]) {
	if h.stopped.Load() {
		return
	}
	if n.Kind == EventSynced {
		h.synced()
		return
	}
	if h.trace.HandlerCalled != nil {
		h.trace.HandlerCalled(h.registration.info, n.info())
	}
	if h.trace.Handled == nil {
		h.call(n)
		h.handled.Add(1)
		return
	}
	begin, info := time.Now(), n.info()
	h.call(n)
	h.handled.Add(1)
	h.trace.Handled(h.registration.info, info, time.Since(begin))
}

// call recovers a panic of the handler if wait.ReallyCrash is off. The event then counts as handled
// (kubernetes/kubernetes#129024: client-go does not count it, and the registration never becomes
// synced). The next one follows without client-go's pause of a second: each panic uses up an event,
// so there is no busy loop.
func (h *RegisteredHandler[T]) call(n *Notification[T]) {
	h.current = n
	defer wait.HandleCrash(h.onPanic)
	switch n.Kind {
	case EventAdd:
		h.handler.OnAdd(n.New, n.Initial)
	case EventUpdate:
		h.handler.OnUpdate(n.Old, n.New)
	case EventDelete:
		h.handler.OnDelete(DeletedObject[T]{Key: n.Key, Object: n.New, FinalStateUnknown: n.FinalStateUnknown})
	}
	h.current = nil // it would keep its batch in memory
}

func (h *RegisteredHandler[T]) panicked(_ context.Context, p *wait.Panic) {
	h.panics.Add(1)
	if h.trace.HandlerPanicked != nil {
		h.trace.HandlerPanicked(h.registration.info, h.current.Kind, h.current.Key, p.Value)
	}
	h.current = nil
}

func (h *RegisteredHandler[T]) synced() {
	if !h.registration.HasSynced() {
		close(h.registration.synced)
	}
	if h.trace.HandlerSynced != nil {
		h.trace.HandlerSynced(h.registration.info)
	}
}

// minimumResyncPeriod is the shortest resync period; shorter ones are raised to it.
const minimumResyncPeriod = time.Second
