package faultnet

import "time"

// Snapshot is a moment of a [Link].
type Snapshot struct {
	// The faults in force.
	BlackHoleSent, BlackHoleReceived bool
	Stall                            bool
	Delay, Jitter                    time.Duration
	Drip                             int
	CutAfter                         int64 // negative: off
	Corrupt                          int64
	Refuse                           bool

	// What has happened.
	Open     int   // connections open now
	Opened   int   // ever
	Dead     int   // of the open ones, those that bytes have vanished of
	Refused  int   // attempts that were refused
	Cuts     int   // connections that were cut
	Sent     int64 // bytes that went through
	Received int64
	Vanished int64 // bytes that a black hole took
	Flipped  int64 // bits
}

// Snapshot shows the faults that are in force and what they have done.
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
