package informer

// EventKind says which callback an event is for.
type EventKind uint8

// The kinds of events, one for each method of [ResourceEventHandler].
const (
	EventAdd EventKind = iota + 1
	EventUpdate
	EventDelete

	// eventSynced is no event for the handler: it travels in the stream behind the last event of the initial
	// list, and when it arrives everything before it has been handled.
	eventSynced
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
	case eventSynced:
		return "synced"
	}
	return "unknown"
}

// notification is one event on its way to the handlers. It travels by value: nothing is boxed, and a batch of
// them is one copy.
type notification[T any] struct {
	kind EventKind
	// initial: an add that is part of the initial list.
	initial bool
	// sync: an update that reports no change. Only handlers whose resync is due want it.
	sync bool
	// finalStateUnknown: a delete that was concluded, not seen.
	finalStateUnknown bool

	key string
	old T // update and delete: the state that handlers were told of before
	obj T // the state that the event is about
}
