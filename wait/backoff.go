package wait

import (
	"sync"
	"time"
)

// Backoff describes a sequence of growing delays.
//
// The zero value is a sequence of zero delays. A Backoff is a plain value:
// copying it copies the position in the sequence. Step moves the position and
// must not be called from several goroutines at once; the functions that are
// made from a Backoff work on a copy of their own.
type Backoff struct {
	// Duration is the next delay, before jitter. Step multiplies it.
	Duration time.Duration
	// Factor multiplies Duration after each step. 0 means: leave it alone.
	// It should not be negative.
	Factor float64
	// Jitter adds a random share of up to Jitter*Duration to each delay that
	// is handed out. It does not accumulate, and it is added on top of Cap.
	// 0 or less means none.
	Jitter float64
	// Steps is how many more times Duration may grow; below 1 the sequence is
	// constant. For [ExponentialBackoff] it is also the number of attempts.
	Steps int
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

// grow moves Duration one step on. A product too large for a Duration
// saturates, where the original becomes negative and stops waiting at all.
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

// DelayFunc returns the sequence as a function, starting where b stands; b
// itself stays as it is. For one goroutine; see [DelayFunc.Concurrent].
func (b Backoff) DelayFunc() DelayFunc {
	return b.Step
}

// DelayWithReset returns the sequence as a function that starts over after a
// quiet time: when more than quiet has passed between the end of the delay
// that was handed out last and the next call. A caller that asks for a delay
// after each failure thus begins with short ones again when it was healthy for
// a while. A quiet of 0 or less never grows: every delay is the first one.
//
// The function may be called from several goroutines; they share one sequence.
//
// The original measures from its last reset instead, so that in a lasting
// outage it starts over with short delays each time the interval has passed:
// the saw-tooth that client-go's reflector shows.
func (b Backoff) DelayWithReset(quiet time.Duration) DelayFunc {
	if quiet <= 0 {
		b.Steps = 0
		return DelayFunc(b.Step).Concurrent()
	}
	r := &resettingDelay{initial: b, quiet: quiet, current: b}
	return r.next
}

// resettingDelay is the state behind DelayWithReset.
type resettingDelay struct {
	initial Backoff
	quiet   time.Duration

	mu      sync.Mutex // guards what follows
	current Backoff
	started bool      // a delay was handed out already
	over    time.Time // when the last delay that was handed out ends
}

func (r *resettingDelay) next() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.started && now.Sub(r.over) > r.quiet {
		r.current = r.initial
	}
	d := r.current.Step()
	r.started, r.over = true, now.Add(d)
	return d
}
