package bench

import (
	"context"
	"runtime"
	"time"

	"orrery/wait"
)

// Pacer says when the events of an open loop are due: event i at start + i/rate. It is immutable;
// producers may share it, each with the numbers of its own events.
type Pacer struct {
	start time.Time
	gap   float64 // nanoseconds between two events
	still bool    // the clock belongs to a bubble
}

// NewPacer returns a Pacer for rate events a second, which must be above zero. The first is due at
// start.
func NewPacer(start time.Time, rate float64) *Pacer {
	return &Pacer{start: start, gap: float64(time.Second) / rate, still: clockStandsStill()}
}

// Due returns when event i is due, since the start.
func (p *Pacer) Due(i int) time.Duration { return time.Duration(float64(i) * p.gap) }

// Wait blocks until event i is due and returns that time, since the start. If the event is late it
// returns at once: latencies are measured from due. ok is false if ctx has ended; then the event
// must not be made.
//
// Wait is accurate to microseconds at any rate. A sleep may end a millisecond late, so it sleeps
// until two milliseconds before, and then yields in a loop. At high rates it uses a whole
// processor, as far as it is idle.
func (p *Pacer) Wait(ctx context.Context, i int) (due time.Duration, ok bool) {
	due = p.Due(i)
	for {
		left := due - time.Since(p.start)
		switch {
		case ctx.Err() != nil:
			return due, false
		case left <= 0:
			return due, true
		case p.still:
			_ = wait.Sleep(ctx, left)
		case left > late:
			_ = wait.Sleep(ctx, left-late)
		case left > instant:
			runtime.Gosched()
		}
	}
}

const (
	// late is how late a sleep may end; Wait spins for this long.
	late = 2 * time.Millisecond
	// instant is the duration of a yield without other runnable goroutines.
	instant = time.Microsecond
)

// clockStandsStill reports whether this runs in a synctest bubble, whose clock stands still. It
// advances only while all goroutines sleep, so spinning in a bubble never ends.
func clockStandsStill() bool {
	began := time.Now()
	for range 10_000 {
		if time.Since(began) != 0 {
			return false
		}
	}
	return true
}
