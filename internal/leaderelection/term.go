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
	// Worked: the predecessor has said that it was at work, see [Elector.AtWork]. Only programs that are built with this package
	// do.
	Worked bool
}

// AtWorkAnnotation is the annotation of a Lease that names its holder from the moment on in which that works. Who leads may
// have something to find out before, and end then. It stays when the Lease is given back or runs out, for those who follow.
const AtWorkAnnotation = "orrery/at-work"
