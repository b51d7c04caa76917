package load

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Pacer says when the events of an open loop are due: event i at start + i/rate. It is immutable; all producers may use
// the same one, each with the numbers of its own events.
type Pacer struct {
	start time.Time
	gap   float64 // nanoseconds between two events
	still bool    // the clock stands still while somebody looks, as in a bubble: only sleeping makes time go by
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
// already: a latency is measured from due, however late the producer came. ok is false if ctx has ended.
func (p *Pacer) Wait(ctx context.Context, i int) (due time.Duration, ok bool) {
	due = p.Due(i)
	for {
		left := due - time.Since(p.start)
		switch {
		case left <= 0:
			return due, ctx.Err() == nil
		case p.still:
			if !sleep(ctx, left) {
				return due, false
			}
		case left > coarse:
			if !sleep(ctx, left-coarse) {
				return due, false
			}
		case left > fine:
			runtime.Gosched()
		}
	}
}

const (
	// coarse is how much too long a sleep may take: the rest is waited for awake.
	coarse = 1200 * time.Microsecond
	// fine is how long giving way to others may take if there are none.
	fine = time.Microsecond
)

func sleep(ctx context.Context, d time.Duration) (ok bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// clockStandsStill tells the clock of a synctest bubble from a real one: it goes on only when everybody sleeps, so who
// waits awake waits forever.
func clockStandsStill() bool {
	began := time.Now()
	for range 10_000 {
		if time.Since(began) != 0 {
			return false
		}
	}
	return true
}
