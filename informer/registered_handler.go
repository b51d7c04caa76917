package informer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"orrery/wait"
)

// RegisteredHandler is a handler as a [Processor] sees it. It makes the callbacks, and does what is the same for every
// form of processor: it counts, traces, survives panics, and knows when its resync is due.
//
// Run, Call and End belong to the one goroutine that calls the handler, the other methods to any.
type RegisteredHandler[T any] struct {
	handler      ResourceEventHandler[T]
	options      HandlerOptions
	registration *Registration
	trace        *Trace
	resync       resyncSchedule

	stopped atomic.Bool   // what follows is dropped
	added   atomic.Uint64 // events that were meant for the handler, except those that were merged into others
	merged  atomic.Uint64 // events that were merged into others
	handled atomic.Uint64 // callbacks that have returned, or panicked
	panics  atomic.Uint64
	peak    atomic.Uint64 // the greatest number of events that ever waited
	lag     atomic.Uint64 // to be reported; 0 if there is nothing to report
	lags    *atomic.Bool  // some handler of the informer has a lag to report

	// begun is for the watchdog; nil if there is none.
	begun *begun
	// current is the event of the callback that is going on. It and onPanic belong to the goroutine.
	current *Notification[T]
	onPanic wait.PanicHandler
}

// laggingFrom is the number of waiting events from which a handler is reported to fall behind.
const laggingFrom = 1024

func newRegisteredHandler[T any](h ResourceEventHandler[T], opts HandlerOptions, r *Registration, trace *Trace) *RegisteredHandler[T] {
	out := &RegisteredHandler[T]{handler: h, options: opts, registration: r, trace: trace, lags: new(atomic.Bool)}
	if trace.HandlerStuck != nil {
		out.begun = &begun{}
	}
	out.onPanic = out.panicked
	return out
}

// Options returns what was asked for the handler.
func (h *RegisteredHandler[T]) Options() HandlerOptions { return h.options }

// ShouldResync reports whether the handler's resync is due, and if so moves on to the next one.
func (h *RegisteredHandler[T]) ShouldResync(now time.Time) bool { return h.resync.due(now) }

// Queued counts events that wait for the handler from now on, marks excluded. It comes before the handler can be called
// with them. Events that have been merged into others are told to Merged afterwards.
func (h *RegisteredHandler[T]) Queued(count int) {
	h.added.Add(uint64(count))
	h.measure()
}

// Adding is Queued for events some of which may be merged. Merged follows.
func (h *RegisteredHandler[T]) Adding(count int) { h.added.Add(uint64(count)) }

// Merged says that so many events, of those that wait, have been merged into others.
func (h *RegisteredHandler[T]) Merged(count int) {
	h.added.Add(-uint64(count))
	h.merged.Add(uint64(count))
	h.measure()
}

// measure keeps the peak, and notes for the informer's loop that there is a lag to report. It calls no hook, because the
// processor holds a lock.
func (h *RegisteredHandler[T]) measure() {
	pending, peak := uint64(h.pending()), h.peak.Load()
	if int64(pending) <= int64(peak) {
		return
	}
	h.peak.Store(pending)
	for mark := uint64(laggingFrom); mark <= pending; mark *= 2 {
		if mark > peak {
			h.lag.Store(pending)
			h.lags.Store(true)
		}
	}
}

// pending is the number of events that the handler has not dealt with, the one in its hands included.
func (h *RegisteredHandler[T]) pending() int {
	// handled first: added never falls behind a value of handled that was read before it.
	handled := h.handled.Load()
	return int(h.added.Load() - handled)
}

// Run makes calls, which calls the handler by Call, on the goroutine of the handler. At the end it calls End, also if a
// callback leaves the goroutine by runtime.Goexit, as t.FailNow does.
func (h *RegisteredHandler[T]) Run(calls func()) {
	h.registration.goroutine.Store(goroutineID())
	defer h.End()
	calls()
}

// End says that no callback is going on and none is going to begin. Run calls it; a processor does for a handler that
// never ran.
func (h *RegisteredHandler[T]) End() {
	h.stopped.Store(true)
	if h.trace.HandlerEnded != nil {
		h.trace.HandlerEnded(h.registration.info, h.pending())
	}
	close(h.registration.ended)
}

// Stopped reports whether the handler drops everything from now on: it was removed without a drain, or the informer stops.
func (h *RegisteredHandler[T]) Stopped() bool { return h.stopped.Load() }

// Call makes the callback for an event. Whatever the callback does, the event has been dealt with. Call does not keep n.
func (h *RegisteredHandler[T]) Call(n *Notification[T]) {
	if h.stopped.Load() {
		return
	}
	if n.Kind == EventSynced {
		h.synced()
		return
	}
	if h.begun != nil {
		h.begun.set(n.Kind, n.Key, h.handled.Load())
	}
	if h.trace.Handled == nil {
		h.call(n)
		h.handled.Add(1)
		return
	}
	begin := time.Now()
	h.call(n)
	h.handled.Add(1)
	h.trace.Handled(h.registration.info, n.Kind, n.Key, time.Since(begin))
}

// call survives a panic of the handler if wait.ReallyCrash is off. The event then counts as handled
// (kubernetes/kubernetes#129024: client-go forgets to count it, and the registration never becomes synced), and
// the next one follows without the pause of a second that client-go makes: no loop can run hot, because each panic uses
// up an event.
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
	h.current = nil // it is part of a batch, which it would keep
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

// MinimumResyncPeriod is the shortest resync period; shorter ones are raised to it.
const MinimumResyncPeriod = time.Second

// resyncSchedule says when a handler wants to be reminded of every object.
//
// The reflector asks every check period, which is the shortest period that was requested before the informer
// started. A handler's own period is therefore rounded up to the next question.
type resyncSchedule struct {
	requested time.Duration // immutable; 0 is never

	mu     sync.Mutex // guards what follows
	period time.Duration
	next   time.Time
}

// adapt fits the schedule to a check period and starts it over. A check period of 0 is never.
func (s *resyncSchedule) adapt(check time.Duration, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period = 0; s.requested > 0 && check > 0 {
		s.period = max(s.requested, check)
	}
	s.next = now.Add(s.period)
}

// due reports whether the time has come, and if so moves on to the next one.
func (s *resyncSchedule) due(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period == 0 || now.Before(s.next) {
		return false
	}
	s.next = now.Add(s.period)
	return true
}

// plan returns the period, 0 for never, and when the handler is due.
func (s *resyncSchedule) plan() (period time.Duration, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period == 0 {
		return 0, time.Time{}
	}
	return s.period, s.next
}
