package load

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"orrery/wait"
)

// Pacer says when the events of an open loop are due: event i at start + i/rate. It is immutable; all producers may use
// the same one, each with the numbers of its own events.
type Pacer struct {
	start time.Time
	gap   float64 // nanoseconds between two events
	still bool    // the clock is that of a bubble
}

// NewPacer returns a Pacer for events at a rate a second, which must be above zero. The first is due at start.
func NewPacer(start time.Time, rate float64) *Pacer {
	if !(rate > 0) {
		panic(fmt.Sprintf("load: %v events a second", rate))
	}
	return &Pacer{start: start, gap: float64(time.Second) / rate, still: clockStandsStill()}
}

// Due returns when event i is due, since the start.
func (p *Pacer) Due(i int) time.Duration { return time.Duration(float64(i) * p.gap) }

// Wait waits until event i is due and returns when that was, since the start. It returns at once if the time has passed
// already: a latency is measured from due, however late the producer came. ok is false if ctx has ended; the event must
// not be made then.
//
// It comes within microseconds of the moment, at any rate. A sleep of Go's may end a millisecond late, so it sleeps until two
// before, lets others go first after that, and looks at the clock in between. At high rates it uses a whole processor, but only
// as far as nobody else wants it.
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
	// late is how late a sleep may end. It is waited for awake.
	late = 2 * time.Millisecond
	// instant is how long it takes to give way to others if there are none.
	instant = time.Microsecond
)

// clockStandsStill tells the clock of a synctest bubble from a real one. It goes on only while everybody sleeps, so who
// waits awake in a bubble waits forever.
func clockStandsStill() bool {
	began := time.Now()
	for range 10_000 {
		if time.Since(began) != 0 {
			return false
		}
	}
	return true
}
