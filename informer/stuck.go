package informer

import "time"

// StuckAfter is how long a callback may run before [Trace].HandlerStuck is told of it. A handler that only puts a key
// into a queue needs a microsecond.
const StuckAfter = time.Minute

// StuckHandler is a callback that does not return.
type StuckHandler struct {
	HandlerInfo
	Event   EventKind // what the handler was called for
	Key     string
	Running time.Duration // at least; it is looked at from time to time
	Pending int           // the events that the handler has not dealt with, this one included
}
