package deltafifo

// Snapshot is what a DeltaFIFO held at one moment. It shares no memory with the queue.
type Snapshot struct {
	// Waiting are the keys in the order in which Pop will hand them out.
	Waiting []KeySnapshot
	// InFlight is the key that a process function is working on, nil if there is none.
	InFlight *KeySnapshot
	// InitialLeft counts the keys of the initial population that were not processed yet.
	InitialLeft int
	Synced      bool
	Closed      bool
}

// KeySnapshot is one key and the types of its deltas, oldest first.
type KeySnapshot struct {
	Key             string
	Types           []DeltaType
	IsInInitialList bool
}

// Snapshot returns the present state. The lock is held for a walk over what waits, about ten
// milliseconds for 100,000 keys; it is meant for people and for tests.
func (f *DeltaFIFO[T]) Snapshot() Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Snapshot{
		Waiting:     make([]KeySnapshot, 0, f.waiting.len()),
		InitialLeft: f.initialLeft,
		Synced:      f.HasSynced(),
		Closed:      f.closed,
	}
	for r := range f.waiting.all() {
		s.Waiting = append(s.Waiting, r.snapshot())
	}
	if f.inFlight != nil {
		k := f.inFlight.snapshot()
		s.InFlight = &k
	}
	return s
}

func (r *record[T]) snapshot() KeySnapshot {
	return KeySnapshot{Key: r.key, Types: r.deltas.Types(), IsInInitialList: r.initial}
}
