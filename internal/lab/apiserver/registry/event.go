package registry

import (
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Event is what a watcher is told.
type Event struct {
	// Type is ADDED, MODIFIED, DELETED or BOOKMARK.
	Type api.WatchEventType
	// Object is the state after the change; of a DELETED event the last one, with the version of the change. It is
	// shared: read only. nil for bookmarks.
	Object *store.Object
	// Version is the one of the change, or of the bookmark: the position to resume from. Initial events have that of their
	// object.
	Version uint64
	// InitialEventsEnd marks the bookmark that ends the initial events (annotation k8s.io/initial-events-end).
	InitialEventsEnd bool
}
