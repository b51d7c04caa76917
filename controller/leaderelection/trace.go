package leaderelection

import (
	"time"

	"orrery/internal/hooks"
)

// Trace is a set of hooks, in the manner of httptrace.ClientTrace. Any of them may be nil, and so
// may the pointer. They are called on the goroutine of [Elector.Run]; NewLeader and WatchFailed
// also on the watch's goroutine. They must not block, because a renewal would wait for them.
type Trace struct {
	// Acquired: this process leads.
	Acquired func(Term)
	// Renewed: the Lease was renewed; took is the duration of the request.
	Renewed func(took time.Duration)
	// SlowPath: the Lease had to be read before it could be renewed, because another client had
	// written it.
	SlowPath func()
	// Failed: an attempt failed, as a leader or a standby. It is retried.
	Failed func(err error, leading bool)
	// Lost: this process lost the leadership against its will. err is a [*LostError].
	Lost func(err error)
	// Released: the Lease was released; if err is not nil, that failed, and the others wait until
	// it expires.
	Released func(err error)
	// NewLeader: another replica holds the Lease. silent is the time since its last renewal, by
	// renewTime and the clock of this machine, or 0 if it renews in time.
	NewLeader func(identity string, silent time.Duration)
	// WatchFailed: the Lease cannot be watched. If that is forbidden for good, the elector polls.
	WatchFailed func(err error, forbidden bool)
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil; the result is nil if all are, and the argument itself if there is only one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Join(traces...)
}
