package leaderelection

import "time"

// Term is one time in office: what is known when it begins.
type Term struct {
	// Identity is who leads: us.
	Identity string
	// Since is when it began, by our clock.
	Since time.Time
	// Transitions is how often the Lease has changed hands.
	Transitions int
	// Predecessor is who led before, as far as the Lease says; empty: nobody.
	Predecessor string
	// Witnessed: the predecessor was at work a moment before or while we stood by: it was seen to renew or to release the
	// Lease, or had just done so. A Lease that was left behind by a program that ended last week makes a predecessor, but not a
	// witnessed one.
	Witnessed bool
	// Tenure is for how long the predecessor led, from taking the Lease to the last renewal that was seen, by its own clock. One that
	// gave up at once has a short one.
	Tenure time.Duration
}
