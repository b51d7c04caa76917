package wait

import (
	"math"
	"time"
)

// Backoff describes a sequence of growing delays.
//
// The zero value is a sequence of zero delays. A Backoff is a plain value: copying it copies the
// position in the sequence. Step advances the position and must not be called concurrently;
// functions that take a Backoff work on a copy of their own.
type Backoff struct {
	Duration time.Duration // the next delay, before jitter; Step multiplies it
	Factor   float64       // multiplies Duration after each step, unless it is 0; not negative
	// Jitter adds a random share of up to Jitter*Duration to each returned delay. It does not
	// accumulate, and it is added on top of Cap. 0 or less means none.
	Jitter float64
	Steps  int // how many more times Duration may grow; below 1 the sequence is constant
	// Cap is the longest Duration, before jitter. A step that would exceed it
	// sets Duration to Cap and ends the growth by setting Steps to 0.
	// 0 means no cap.
	Cap time.Duration
}

// Step returns the delay to wait now and moves to the next one. On a nil
// Backoff it returns 0.
func (b *Backoff) Step() time.Duration {
	if b == nil {
		return 0
	}
	current := b.Duration
	if b.Steps > 0 {
		b.grow()
	} else {
		b.Steps = 0
	}
	if b.Jitter > 0 {
		return Jitter(current, b.Jitter)
	}
	return current
}

// grow advances Duration by one step. A product too large for a Duration saturates, where
// apimachinery's becomes negative, which ends all waiting.
func (b *Backoff) grow() {
	b.Steps--
	if b.Factor == 0 {
		return
	}
	next := scale(b.Duration, b.Factor)
	if b.Cap > 0 && next > b.Cap {
		next = b.Cap
		b.Steps = 0
	}
	b.Duration = next
}

// DelayFunc returns the rest of the sequence as a function, without changing b. It must not be
// called concurrently.
func (b Backoff) DelayFunc() DelayFunc {
	return b.Step
}

// scale multiplies and saturates. Converting a float64 that is out of range to
// an integer gives an unspecified value in Go, on common machines a negative
// one, and a negative delay turns a back-off into a busy loop.
func scale(d time.Duration, factor float64) time.Duration {
	product := float64(d) * factor
	// float64(MaxInt64) rounds up to 2^63, itself one too many: hence >=.
	if product >= math.MaxInt64 {
		return math.MaxInt64
	}
	if product <= math.MinInt64 {
		return math.MinInt64
	}
	return time.Duration(product)
}

// DelayFunc returns the next delay and advances the sequence. Unless documented otherwise it must
// not be called concurrently.
type DelayFunc func() time.Duration

// timer is a time.Timer that takes its durations from a DelayFunc.
//
// There is no draining before Reset: since Go 1.23 a Reset also discards an expiry that was not
// received, so a tick of an earlier Arm is never seen after a later one. Nor is there a Stop: a
// timer without references is collected.
type timer struct {
	delay DelayFunc
	timer *time.Timer
}

// Arm starts the next wait. It must be called before C.
func (t *timer) Arm() {
	d := t.delay()
	if t.timer == nil {
		t.timer = time.NewTimer(d)
		return
	}
	t.timer.Reset(d)
}

// C delivers a value when the wait started by Arm is over.
func (t *timer) C() <-chan time.Time { return t.timer.C }
