package informer

import (
	"orrery/deltafifo"
)

// This page is HandleDeltas of the article: the deltas of one object go into the store and to the
// handlers.
//
//	delta                  the store has it   notification
//	Deleted, by a watch    yes                EventDelete: Old is the store's, New the final state
//	Deleted, a tombstone   yes                EventDelete: Old and New are the store's
//	Deleted, a tombstone   no                 none
//	any other type         yes                EventUpdate: Old is the store's, New the delta's object
//	any other type         no                 EventAdd
//
// Not the type of the delta decides between an addition and an update, but the store. Read apply
// and applyDeletion first.

// handleDeltas applies the deltas of one object with handleDelta, oldest first. The failure of a
// delta is added to s.failures as a *ProcessError; the other deltas are applied all the same, and
// nothing is requeued: the result is nil. Trace.Distributed, if it is set, gets the info of each
// notification that was sent to a listener. The hook is called without the lock blockDeltas.
func (s *SharedIndexInformer[T]) handleDeltas(
	key string, deltas deltafifo.Deltas[T], isInInitialList bool,
) error {
	for i := range deltas {
		n, listeners, err := s.handleDelta(key, &deltas[i], isInInitialList)
		if err != nil {
			s.failures.add(&ProcessError{Key: key, Err: err})
		}
		if t := s.config.Trace; listeners > 0 && t.Distributed != nil {
			t.Distributed(n.info(), listeners)
		}
	}
	return nil
}

// handleDelta applies d to the store, numbers the notification (s.applied counts every delta, even
// one that changes nothing), reports it with traceApplied, and distributes it if there is something
// to notify. It does so in one critical section of the lock blockDeltas: a handler that was added
// before receives the notification, a later one finds the change in the store. It returns the
// notification, the number of listeners that it was sent to, and the error of apply.
func (s *SharedIndexInformer[T]) handleDelta(
	key string, d *deltafifo.Delta[T], isInInitialList bool,
) (n Notification[T], listeners int, err error) {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	n, changed, err := s.apply(key, d, isInInitialList)
	s.applied++
	n.Number = s.applied
	s.traceApplied(d, &n, changed)
	if changed {
		listeners = s.processor.Distribute(n)
	}
	return n, listeners, err
}

// apply writes d to the store and returns the notification for the handlers; changed reports
// whether there is one. Deletions go to applyDeletion. For the other types the store decides the
// kind: an update, with the previous state in Old, if the store had the object; otherwise an
// addition, which is Initial if it belongs to the first list.
//
// The mutation detector finds handlers that change shared objects. If it is on, it records the
// object before it is stored. The error of an index function is returned; the object is stored and
// the handlers are notified all the same.
func (s *SharedIndexInformer[T]) apply(
	key string, d *deltafifo.Delta[T], isInInitialList bool,
) (n Notification[T], changed bool, err error) {
	if d.Type == deltafifo.Deleted {
		n, changed = s.applyDeletion(key, d)
		return n, changed, nil
	}
	if s.detector != nil {
		s.detector.stored(key, d.Object)
	}
	old, exists, err := s.indexer.Put(key, d.Object)
	if exists {
		sync := isSync(d.Type, old, d.Object)
		return Notification[T]{Kind: EventUpdate, Key: key, Old: old, New: d.Object, Sync: sync}, true, err
	}
	return Notification[T]{Kind: EventAdd, Key: key, New: d.Object, Initial: isInInitialList}, true, err
}

// applyDeletion removes the object from the store and from the mutation detector. Old of the
// notification is the state in the store. New is the final state that the watch reported; for a
// tombstone, which has none, it is the state in the store, and FinalStateUnknown is set.
//
// If the store lacks the object of a tombstone, nothing has changed: a watch reported the deletion,
// and it was processed, while the list that lacks the object was under way. Without a tombstone the
// store has the object, because a queue that knows the store drops deletions of unknown objects.
func (s *SharedIndexInformer[T]) applyDeletion(
	key string, d *deltafifo.Delta[T],
) (n Notification[T], changed bool) {
	old, exists := s.indexer.GetByKey(key)
	n = Notification[T]{Kind: EventDelete, Key: key, Old: old, New: d.Object}
	if d.Tombstone != nil {
		if !exists {
			return n, false
		}
		n.New, n.FinalStateUnknown = old, true
	}
	s.indexer.DeleteKey(key)
	if s.detector != nil {
		s.detector.deleted(key)
	}
	return n, true
}

// isSync reports whether an update contains no change: its type is Sync, or both objects have the
// same resource version, as when a list repeats what is known. Such an update goes only to handlers
// whose resync is due. Objects without a resource version (of a fake) prove nothing.
func isSync[T Object](t deltafifo.DeltaType, old, obj T) bool {
	if t == deltafifo.Sync {
		return true
	}
	version := obj.GetResourceVersion()
	return version != "" && version == old.GetResourceVersion()
}
