package bench

import "time"

// Phase is a part of a run, and how far it is.
type Phase struct {
	// Name says what happens: "filling the store". The empty name is that of no phase.
	Name string
	// Unit is what Done counts: "keys".
	Unit string
	// Started is when the phase began.
	Started time.Time
	// Ended is when it ended, zero while it goes on.
	Ended time.Time
	// Lasts is how long the phase takes, if that is known beforehand.
	Lasts time.Duration
	// Total is how many there are to do, if that is known beforehand.
	Total int64
	// Done is how many have been done.
	Done int64
}

// Elapsed returns how long the phase took, or has taken until now.
func (p Phase) Elapsed(now time.Time) time.Duration {
	if !p.Ended.IsZero() {
		now = p.Ended
	}
	return max(now.Sub(p.Started), 0)
}

// Part returns how much of the phase is over, between 0 and 1. ok is false if it does not say how much there is.
func (p Phase) Part(now time.Time) (part float64, ok bool) {
	switch {
	case p.Total > 0:
		return min(float64(p.Done)/float64(p.Total), 1), true
	case p.Lasts > 0:
		return min(float64(p.Elapsed(now))/float64(p.Lasts), 1), true
	default:
		return 0, false
	}
}
