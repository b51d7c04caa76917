package informer

import (
	"errors"

	"orrery/deltafifo"
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
	n = notification[T]{key: key, obj: d.Object}
	if d.Type == deltafifo.Deleted {
		n, changed = s.applyDeletion(n, d)
		return n, changed, nil
	}
	known, err := s.put(&n)
	if known {
		n.kind, n.sync = EventUpdate, isSync(d.Type, n.old, n.obj)
	} else {
		n.kind, n.initial = EventAdd, isInInitialList
	}
	return n, true, err
}

func (s *SharedIndexInformer[T]) applyDeletion(n notification[T], d *deltafifo.Delta[T]) (_ notification[T], changed bool) {
	old, known := s.store.GetByKey(n.key)
	n.kind, n.old = EventDelete, old
	if d.Tombstone != nil {
		if !known {
			// The deletion itself was delivered while the list that lacks the object was under way.
			return n, false
		}
		n.obj, n.finalStateUnknown = old, true // the state that handlers were told of last
	}
	s.store.DeleteKey(n.key)
	if s.detector != nil {
		s.detector.deleted(n.key)
	}
	return n, true
}

// put stores the object of n and puts the one that was there before into n, if there was one. An index function that
// fails is an error, but the object is stored and found by its key, and so the handlers have to be told of it.
func (s *SharedIndexInformer[T]) put(n *notification[T]) (known bool, err error) {
	if s.detector != nil {
		err = s.detector.stored(n.key, n.obj)
	}
	var failed error
	if n.old, known, failed = s.store.Put(n.key, n.obj); failed != nil {
		err = errors.Join(err, failed)
	}
	return known, err
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
