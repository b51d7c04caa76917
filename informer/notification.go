package informer

// EventKind is the kind of an event.
type EventKind uint8

// The kinds of events, one for each method of [ResourceEventHandler], and the mark.
const (
	EventAdd EventKind = iota + 1
	EventUpdate
	EventDelete
	// EventSynced is the mark after the last event of the initial list. It calls no method of the
	// handler. When it arrives, the handler has processed everything before it, and the
	// [Registration] is synced.
	EventSynced
)

// String returns the kind in lower case, as in a log.
func (k EventKind) String() string {
	switch k {
	case EventAdd:
		return "add"
	case EventUpdate:
		return "update"
	case EventDelete:
		return "delete"
	case EventSynced:
		return "synced"
	}
	return "unknown"
}

// Notification is one event on its way from the store to the handlers.
type Notification[T any] struct {
	Kind              EventKind
	Initial           bool // an addition that is part of the initial list
	Sync              bool // an update without a change, for handlers whose resync is due
	FinalStateUnknown bool // a deletion that was inferred from a list, or whose final state the transform refused

	Number uint64 // see [AppliedInfo]
	Key    string
	Old    T // update and delete: the previous state
	New    T // the state of the event
}

func (n *Notification[T]) info() EventInfo { return EventInfo{n.Number, n.Kind, n.Key} }

// events returns 1, or 0 for the mark.
func (n *Notification[T]) events() int {
	if n.Kind == EventSynced {
		return 0
	}
	return 1
}
