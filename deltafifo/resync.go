package deltafifo

// Resync queues a Sync with its present state for each known object, so that handlers see again
// what they have. Keys that wait or are being processed are left out: what waits for them is
// newer than what the store holds, and a Sync behind it would bring the old state back.
//
// From Close on it returns ErrFIFOClosed; there is no other error, since the keys are the store's.
func (f *DeltaFIFO[T]) Resync() error {
	f.beginScan()
	defer f.endScan()
	incoming := f.lineUpKnown()

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrFIFOClosed
	}
	known := incoming.len()
	// A consumer took these while the store was read. It has told their state, or will, and the
	// state that was read may be older than that.
	for _, key := range f.popped {
		incoming.drop(key)
	}
	for r := range f.waiting.all() {
		incoming.drop(r.key)
	}
	queued := incoming.len()
	f.absorbLocked(incoming, func(_, _ *record[T]) {})
	if f.trace.Resynced != nil {
		f.trace.Resynced(queued, known-queued, f.waiting.len())
	}
	f.wakeLocked()
	return nil
}

// lineUpKnown returns a line with a Sync for each known object.
func (f *DeltaFIFO[T]) lineUpKnown() *line[T] {
	if f.known == nil {
		return newLine[T](0)
	}
	keys := f.known.ListKeys()
	incoming := newLine[T](len(keys))
	for _, key := range keys {
		if obj, exists := f.known.GetByKey(key); exists && incoming.get(key) == nil {
			incoming.push(newRecord(key, Delta[T]{Type: Sync, Object: obj}))
		}
	}
	return incoming
}
