package leaderelection

import (
	"context"
	"sync"
	"time"
)

// hold is the time for which a leader may work: the context of the work, which ends at the deadline whatever else happens,
// and is put off by each renewal.
//
// A timer ends it, but is not relied on: a process that was stopped and goes on has many goroutines that are ready to run,
// and the one of the timer is one of them. Who is about to send something asks alive.
type hold struct {
	// Immutable.
	clock *clock
	ctx   context.Context
	end   context.CancelCauseFunc
	over  func()       // called once, when it ends
	cause func() error // why it ends, asked when the deadline has passed

	mu       sync.Mutex // guards what follows
	deadline time.Duration
	ended    bool
	timer    *time.Timer
}

// newHold begins a hold that ends at the deadline, by the clock. Whoever makes it calls finish.
func newHold(parent context.Context, clock *clock, deadline time.Duration, over func(), cause func() error) *hold {
	h := &hold{clock: clock, over: over, cause: cause, deadline: deadline}
	h.ctx, h.end = context.WithCancelCause(parent)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = time.AfterFunc(deadline-clock.now(), func() { h.alive() })
	return h
}

// alive tells whether the hold lasts, by the clock and not by whether anything has noticed yet that it does not.
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

// extend puts the deadline off. It fails when the hold has ended: a renewal that comes too late does not bring it back.
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

// finish gives the timer back, when the work is over.
func (h *hold) finish() {
	h.mu.Lock()
	h.ended = true
	h.timer.Stop()
	h.mu.Unlock()
	h.end(context.Canceled)
}
