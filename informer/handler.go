package informer

// ResourceEventHandler receives the events of an informer.
//
// One handler is called by one goroutine, one call at a time, in the order of events. Handlers of the same
// informer run independently of each other. The store is always at least as new as the event that a handler is
// being told of, and may be newer: level-triggered code takes the key and reads the store.
//
// Objects are shared with the store and with all other handlers. Do not change them; make a copy first.
type ResourceEventHandler[T any] interface {
	// OnAdd is called for an object that the handler has not been told of. isInInitialList is true while the
	// state that existed at the beginning is being told: the first list of the informer, or the content of the
	// store for a handler that joined later.
	OnAdd(obj T, isInInitialList bool)
	// OnUpdate is called for a new state of an object. Both states are the same object, or have the same
	// resource version, if nothing happened and this is the periodic reminder that the handler asked for
	// (its resync period). A deletion and re-creation that fell into a gap of the watch is an update, with
	// different UIDs.
	OnUpdate(oldObj, newObj T)
	// OnDelete is called for an object that is gone.
	OnDelete(deleted DeletedObject[T])
}

// DeletedObject is what is left of an object.
type DeletedObject[T any] struct {
	// Key is the object's key, always set.
	Key string
	// Object is the final state of the object, or, if FinalStateUnknown, the last one that was told of. It is
	// never the zero value: the deletion of an object that no handler knows is not delivered.
	Object T
	// FinalStateUnknown is true if the deletion itself was not seen (the watch was down) and was concluded
	// from the object's absence in a list.
	FinalStateUnknown bool
}

// ResourceEventHandlerFuncs makes a handler of functions. A nil function ignores its events; the zero value
// ignores everything.
type ResourceEventHandlerFuncs[T any] struct {
	AddFunc    func(obj T, isInInitialList bool)
	UpdateFunc func(oldObj, newObj T)
	DeleteFunc func(deleted DeletedObject[T])
}

// OnAdd calls AddFunc.
func (f ResourceEventHandlerFuncs[T]) OnAdd(obj T, isInInitialList bool) {
	if f.AddFunc != nil {
		f.AddFunc(obj, isInInitialList)
	}
}

// OnUpdate calls UpdateFunc.
func (f ResourceEventHandlerFuncs[T]) OnUpdate(oldObj, newObj T) {
	if f.UpdateFunc != nil {
		f.UpdateFunc(oldObj, newObj)
	}
}

// OnDelete calls DeleteFunc.
func (f ResourceEventHandlerFuncs[T]) OnDelete(deleted DeletedObject[T]) {
	if f.DeleteFunc != nil {
		f.DeleteFunc(deleted)
	}
}
