// Package shared has what both forms of the reflector and their suite use, and no user of them.
package shared

import (
	"time"

	"orrery/restclient/api"
)

// The defaults of reflector.Config.
const (
	PageSize              = 500
	MaxItems              = 1_000_000
	ListTimeout           = 5 * time.Minute
	MinWatchTimeout       = 5 * time.Minute
	IdleTimeout           = 3 * time.Minute
	SilentIdleTimeout     = 45 * time.Second
	InitialEventsDeadline = 5 * time.Minute
)

// The thresholds of both forms.
const (
	// VeryShortWatch is the duration below which a watch must have delivered something to count as
	// a success.
	VeryShortWatch = time.Second
	// HealthyWatch is the duration after which a watch shows that server and connection work even
	// without events.
	HealthyWatch = 10 * time.Second
	// InitialEventsTimeout is the longest silence (no answer, then no ADDED event) during the initial
	// events of a streaming list, StreamingListAttempts how many in a row may break off. After that
	// the state is listed instead.
	InitialEventsTimeout  = 10 * time.Second
	StreamingListAttempts = 3
	// EmptyPages is how many pages more than items a list may have. A selector can leave a page
	// without items.
	EmptyPages = 40
	// LongestRetryAfter bounds a server's Retry-After: a header with a few zeros too many must not
	// stop a controller for a day.
	LongestRetryAfter = 5 * time.Minute
)

// StatusError returns the error of an ERROR event.
func StatusError(status *api.Status) error {
	if status == nil {
		status = &api.Status{Message: "an ERROR event without a status"}
	}
	return api.NewStatusError(*status)
}

// Identify returns what identifies the object of e. It is empty if the event has no object, or the
// object does not have these methods.
func Identify[T any](e api.WatchEvent[T]) (namespace, name, uid string) {
	switch e.Type {
	case api.WatchAdded, api.WatchModified, api.WatchDeleted:
	default:
		return // an event of another type may have no object
	}
	if object, ok := any(e.Object).(identified); ok {
		namespace, name, uid = object.GetNamespace(), object.GetName(), object.GetUID()
	}
	return
}

type identified interface {
	GetNamespace() string
	GetName() string
	GetUID() string
}
