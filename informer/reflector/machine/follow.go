package machine

import (
	"time"

	"orrery/restclient/api"
)

// followLocked is handleLocked for the one thing that happens thousands of times a second: a change, while watching. The
// table says of it that the phase stays and that the event is applied, and this does just that, without handing the
// state from function to function as a value; half of the reflector's time for an event went into that. A test compares
// it with the table.
func (r *Reflector[T]) followLocked(event *api.WatchEvent[T]) {
	r.state.follow(time.Since(r.began), event.ResourceVersion, event.Type == api.WatchAdded)
	r.applyLocked(event)
	r.publishChangeLocked()
	// No timer has to be set: a change only puts the idle time off.
}

// isChange tells the events that objects come in.
func isChange(t api.WatchEventType) bool {
	return t == api.WatchModified || t == api.WatchAdded || t == api.WatchDeleted
}
