package informer

import (
	"errors"

	"orrery/deltafifo"
	"orrery/indexer"
)

// handleDeltas applies what happened to one object, oldest first, to the store and then to the stream of events
// (HandleDeltas in the article). A failure concerns one delta; the others are applied. It returns how many events
// wait for a flush.
func (s *SharedIndexInformer[T]) handleDeltas(key string, deltas deltafifo.Deltas[T], isInInitialList bool) (waiting int) {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	for i := range deltas {
		n, changed, err := s.apply(key, &deltas[i], isInInitialList)
		if err != nil {
			s.failures.add(&ProcessError{Key: key, Err: err})
		}
		if changed {
			waiting = s.processor.append(n)
		}
	}
	return waiting
}

// apply brings a delta into the store and decides by the store what it is for the handlers. What the server calls
// an addition is an update if the store has the object (a relist); what it calls an update is an addition if not.
// changed is false if there is nothing to tell; there may be although there was an error.
func (s *SharedIndexInformer[T]) apply(key string, d *deltafifo.Delta[T], isInInitialList bool) (n notification[T], changed bool, err error) {
	old, known := s.store.GetByKey(key)
	n = notification[T]{key: key, obj: d.Object}
	switch {
	case d.Type == deltafifo.Deleted:
		return s.applyDeletion(n, d, old, known)
	case known:
		n.kind, n.old, n.sync = EventUpdate, old, isSync(d.Type, old, d.Object)
	default:
		n.kind, n.initial = EventAdd, isInInitialList
	}
	changed, err = s.put(key, d.Object)
	if changed && !known {
		s.keys.remember(key, d.Object)
	}
	return n, changed, err
}

func (s *SharedIndexInformer[T]) applyDeletion(n notification[T], d *deltafifo.Delta[T], old T, known bool) (notification[T], bool, error) {
	n.kind, n.old = EventDelete, old
	if d.Tombstone != nil {
		if !known {
			// The deletion itself was delivered while the list that lacks the object was under way.
			return n, false, nil
		}
		n.obj, n.finalStateUnknown = old, true // the state that handlers were told of last
	}
	s.store.DeleteKey(n.key)
	s.keys.forget(n.obj)
	if s.detector != nil {
		s.detector.deleted(n.key)
	}
	return n, true, nil
}

// put stores an object. An index function that fails is an error, but the object is stored and found by its key,
// and so the handlers have to be told of it.
func (s *SharedIndexInformer[T]) put(key string, obj T) (stored bool, err error) {
	if s.detector != nil {
		err = s.detector.stored(key, obj)
	}
	failed := s.store.Update(obj)
	if failed == nil {
		return true, err
	}
	return errors.As(failed, new(*indexer.IndexError)), errors.Join(err, failed)
}

// isSync tells whether an update reports no change: a resync, or a list that contains what the store has. Only
// handlers that are due for a resync want to know. Without resource versions (in a fake) nothing can be concluded.
func isSync[T Object](t deltafifo.DeltaType, old, obj T) bool {
	if t == deltafifo.Sync {
		return true
	}
	version := obj.GetResourceVersion()
	return version != "" && version == old.GetResourceVersion()
}
