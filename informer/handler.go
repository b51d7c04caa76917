package informer

import "orrery/deltafifo"

// ResourceEventHandler receives the events of an informer.
//
// One goroutine calls a handler, one call at a time, in the order of events. Handlers of the same
// informer run independently. The store is at least as new as the event: level-triggered code takes
// the key and reads the store.
//
// Objects are shared with the store and with all other handlers. Do not change them; make a copy
// first.
type ResourceEventHandler[T any] interface {
	// OnAdd is called for a new object. isInInitialList is true for the initial state: the first
	// list of the informer, or the content of the store for a handler added later.
	OnAdd(obj T, isInInitialList bool)
	// OnUpdate is called for a new state of an object. In a periodic resync both states are the
	// same object or have the same resource version. If an object was deleted and re-created while
	// the watch was down, the update has different UIDs.
	OnUpdate(oldObj, newObj T)
	// OnDelete is called for an object that was deleted.
	OnDelete(deleted DeletedObject[T])
}

// DeletedObject describes a deletion.
type DeletedObject[T any] struct {
	// Key is the object's key, always set.
	Key string
	// Object is the final state of the object or, if FinalStateUnknown, the last known one. It is
	// never the zero value: the deletion of an object that no handler knows is not delivered.
	Object T
	// FinalStateUnknown is true if the deletion was not observed (the watch was down) but inferred
	// from a list, or if the transform refused the final state.
	FinalStateUnknown bool
}

// ResourceEventHandlerFuncs is a handler made of functions. A nil function ignores its events.
type ResourceEventHandlerFuncs[T any] struct {
	AddFunc    func(obj T, isInInitialList bool)
	UpdateFunc func(oldObj, newObj T)
	DeleteFunc func(deleted DeletedObject[T])
}

func (f ResourceEventHandlerFuncs[T]) OnAdd(obj T, isInInitialList bool) {
	if f.AddFunc != nil {
		f.AddFunc(obj, isInInitialList)
	}
}

func (f ResourceEventHandlerFuncs[T]) OnUpdate(oldObj, newObj T) {
	if f.UpdateFunc != nil {
		f.UpdateFunc(oldObj, newObj)
	}
}

func (f ResourceEventHandlerFuncs[T]) OnDelete(deleted DeletedObject[T]) {
	if f.DeleteFunc != nil {
		f.DeleteFunc(deleted)
	}
}

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

// traceApplied reports a delta that was applied. It must be called with blockDeltas held.
func (s *SharedIndexInformer[T]) traceApplied(d *deltafifo.Delta[T], n *Notification[T], changed bool) {
	t := s.config.Trace
	if t.Applied == nil {
		return
	}
	info := AppliedInfo{EventInfo: n.info(), Type: d.Type, Tombstone: d.Tombstone != nil, Sync: n.Sync}
	if !changed {
		info.Kind = 0
	}
	if !info.Tombstone { // its object may be the zero value
		info.ResourceVersion = d.Object.GetResourceVersion()
	}
	t.Applied(info)
}
