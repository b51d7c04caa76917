package leaderelection

import (
	"context"
	"sync"
	"time"
)

// hold is the time for which a leader may work: the context of the work, which ends at the deadline
// in any case. Each renewal moves the deadline.
//
// A timer ends it, but is not sufficient: in a process that resumes after a stop, the timer's
// goroutine is one of many that are ready to run. Code that is about to send calls alive.
type hold struct {
	// Immutable.
	clock *clock
	ctx   context.Context
	end   context.CancelCauseFunc
	over  func()       // called once, at the end
	cause func() error // called at the deadline; returns the reason

	mu       sync.Mutex // guards the fields below
	deadline time.Duration
	ended    bool
	timer    *time.Timer
}

// newHold starts a hold until the deadline on the clock. The caller must call finish.
func newHold(parent context.Context, clock *clock, deadline time.Duration, over func(), cause func() error) *hold {
	h := &hold{clock: clock, over: over, cause: cause, deadline: deadline}
	h.ctx, h.end = context.WithCancelCause(parent)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = time.AfterFunc(deadline-clock.now(), func() { h.alive() })
	return h
}

// alive reports whether the hold lasts, by the clock; the timer may fire late.
func (h *hold) alive() bool {
	h.mu.Lock()
	if h.ended {
		h.mu.Unlock()
		return false
	}
	if h.clock.now() < h.deadline {
		h.mu.Unlock()
		return true
	}
	h.ended = true
	h.mu.Unlock()
	h.finishWith(h.cause())
	return false
}

// extend moves the deadline. It fails if the hold has ended: a late renewal does not restore it.
func (h *hold) extend(deadline time.Duration) bool {
	if !h.alive() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return false
	}
	h.deadline = deadline
	h.timer.Reset(deadline - h.clock.now())
	return true
}

// stop ends the hold now.
func (h *hold) stop(cause error) {
	h.mu.Lock()
	ended := h.ended
	h.ended = true
	h.mu.Unlock()
	if !ended {
		h.finishWith(cause)
	}
}

func (h *hold) finishWith(cause error) {
	h.over()
	h.end(cause)
}

// finish stops the timer after the work.
func (h *hold) finish() {
	h.mu.Lock()
	h.ended = true
	h.timer.Stop()
	h.mu.Unlock()
	h.end(context.Canceled)
}
