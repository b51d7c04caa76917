package faultnet

import "time"

// Snapshot is the state of a [Link] at one time.
type Snapshot struct {
	// The active faults.
	BlackHoleSent, BlackHoleReceived bool
	Stall                            bool
	Delay, Jitter                    time.Duration
	Drip                             int
	CutAfter                         int64 // negative: off
	Corrupt                          int64
	Refuse                           bool

	// Statistics.
	Open     int   // connections open now
	Opened   int   // in total
	Dead     int   // open connections that have lost bytes
	Refused  int   // refused attempts
	Cuts     int   // connections cut
	Sent     int64 // bytes delivered
	Received int64
	Vanished int64 // bytes lost in a black hole
	Flipped  int64 // bits
}

// Snapshot returns the active faults and their statistics.
func (l *Link) Snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, n := &l.faults, &l.counts
	s := Snapshot{
		BlackHoleSent: f.blackHole[Sent], BlackHoleReceived: f.blackHole[Received], Stall: f.stall,
		Delay: f.delay, Jitter: f.jitter, Drip: f.drip, CutAfter: -1, Corrupt: f.corrupt, Refuse: f.refuse,
		Open: len(l.open), Opened: n.opened, Refused: n.refused, Cuts: n.cuts,
		Sent: n.sent, Received: n.received, Vanished: n.vanished, Flipped: n.flipped,
	}
	if f.cutting {
		s.CutAfter = f.cutAfter
	}
	for c := range l.open {
		if c.dead[Sent] || c.dead[Received] {
			s.Dead++
		}
	}
	return s
}
