package store

import "orrery/restclient/api"

// Event is one write of a collection.
type Event struct {
	// Type is ADDED, MODIFIED or DELETED.
	Type api.WatchEventType
	// Object is the object as it was written. Of a deletion it is the last state with the version of the deletion.
	Object *Object
	// Previous is the object before the write; nil for ADDED.
	Previous *Object
}

// Version returns the version of the write.
func (e Event) Version() uint64 { return e.Object.Version }

// pinned is about how much memory the event alone keeps, in bytes: what it replaced, and of a deletion what it says.
// Object of the other types stands in the tree, or is the Previous of a later event.
func (e Event) pinned() int {
	size := eventOverhead
	if e.Previous != nil {
		size += e.Previous.size()
	}
	if e.Type == api.WatchDeleted {
		size += e.Object.size()
	}
	return size
}

// eventOverhead is the place that an event takes in the window.
const eventOverhead = 32
