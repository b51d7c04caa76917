package informer

import (
	"errors"

	"orrery/deltafifo"
)

// This page is HandleDeltas of the article: what happened to one object goes into the store and to the handlers.

// handleDeltas applies what happened to one object, oldest first. A failure concerns one delta; it is reported, and the
// others are applied. Nothing is put back into the queue.
func (s *SharedIndexInformer[T]) handleDeltas(key string, deltas deltafifo.Deltas[T], isInInitialList bool) error {
	for i := range deltas {
		n, listeners, err := s.handleDelta(key, &deltas[i], isInInitialList)
		if err != nil {
			s.failures.add(&ProcessError{Key: key, Err: err})
		}
		if t := s.config.Trace; listeners > 0 && t.Distributed != nil {
			t.Distributed(n.Kind, key, listeners)
		}
	}
	return nil
}

// handleDelta changes the store and notifies the listeners in one critical section: a handler that was added before receives
// the notification, a later one finds the change in the store.
func (s *SharedIndexInformer[T]) handleDelta(key string, d *deltafifo.Delta[T], isInInitialList bool) (n Notification[T], listeners int, err error) {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	n, changed, err := s.apply(key, d, isInInitialList)
	if changed {
		listeners = s.processor.Distribute(n)
	}
	return n, listeners, err
}

// apply writes d to the store and returns the notification for the handlers. The store decides its kind: an update if it
// has the object, otherwise an addition. changed reports whether to notify; it may be true even if err is not nil.
func (s *SharedIndexInformer[T]) apply(key string, d *deltafifo.Delta[T], isInInitialList bool) (n Notification[T], changed bool, err error) {
	if d.Type == deltafifo.Deleted {
		n, changed = s.applyDeletion(key, d)
		return n, changed, nil
	}
	if s.detector != nil {
		err = s.detector.stored(key, d.Object)
	}
	// If an index function fails, the object is stored all the same, and the handlers are notified.
	old, exists, failed := s.indexer.Put(key, d.Object)
	if failed != nil {
		err = errors.Join(err, failed)
	}
	if exists {
		return Notification[T]{Kind: EventUpdate, Key: key, Old: old, New: d.Object, Sync: isSync(d.Type, old, d.Object)}, true, err
	}
	return Notification[T]{Kind: EventAdd, Key: key, New: d.Object, Initial: isInInitialList}, true, err
}

// applyDeletion removes the object. The notification carries the final state or, for a tombstone, the state in the store.
// Without a tombstone the store has the object: the queue drops deletions of unknown objects.
func (s *SharedIndexInformer[T]) applyDeletion(key string, d *deltafifo.Delta[T]) (n Notification[T], changed bool) {
	old, exists := s.indexer.GetByKey(key)
	n = Notification[T]{Kind: EventDelete, Key: key, Old: old, New: d.Object}
	if d.Tombstone != nil {
		if !exists {
			// The deletion itself was delivered while the list that lacks the object was under way.
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

// isSync reports whether an update contains no change: a resync, or a list that contains what the store has. It
// goes only to handlers whose resync is due. Without resource versions (in a fake) nothing can be concluded.
func isSync[T Object](t deltafifo.DeltaType, old, obj T) bool {
	if t == deltafifo.Sync {
		return true
	}
	version := obj.GetResourceVersion()
	return version != "" && version == old.GetResourceVersion()
}
