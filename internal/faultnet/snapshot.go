package faultnet

import "time"

// Snapshot is a moment of a [Link].
type Snapshot struct {
	// The faults in force.
	BlackHoleSent, BlackHoleReceived bool
	Delay, Jitter                    time.Duration
	Drip                             int
	CutAfter                         int64 // negative: off
	Corrupt                          int64
	Refuse                           bool

	// What has happened.
	Open     int   // connections open now
	Opened   int   // ever
	Refused  int   // attempts that were refused
	Cuts     int   // connections that were cut
	Sent     int64 // bytes that went through
	Received int64
	Vanished int64 // bytes that a black hole took
	Flipped  int64 // bits
}
