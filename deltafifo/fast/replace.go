package fast

import "orrery/deltafifo"

// Replace and Resync read the known objects without mu, because there may be 100,000. Meanwhile the
// store changes only for keys in f.popped; both methods recheck those with mu held.

// beginScan makes the caller the only reader. endScan must follow.
func (f *DeltaFIFO[T]) beginScan() {
	f.scanning.Lock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.popped = []string{}
	if f.inFlight != nil {
		f.popped = append(f.popped, f.inFlight.key)
	}
}

func (f *DeltaFIFO[T]) endScan() {
	f.mu.Lock()
	f.popped = nil
	f.mu.Unlock()
	f.scanning.Unlock()
}

// Replace: a tombstone holds the newest waiting state, else the one in the store. Waiting keys keep
// their place; the items follow in their order, then the tombstones of the other keys. If this is
// the first call, all of this is the initial population.
func (f *DeltaFIFO[T]) Replace(items []T, resourceVersion string) error {
	incoming := f.listed(items)
	listed := incoming.len()
	f.beginScan()
	defer f.endScan()
	f.addKnownTombstones(incoming)

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return deltafifo.ErrFIFOClosed
	}
	tombstones := f.addWaitingTombstonesLocked(incoming)
	f.recheckPoppedLocked(incoming)
	tombstones += incoming.len() - listed
	f.absorbLocked(incoming.queue, func(mine, theirs *record[T]) {
		for _, d := range theirs.deltas {
			f.appendLocked(mine, d)
		}
	})
	f.populateLocked()
	f.trace.Replaced(resourceVersion, incoming.items, tombstones, f.waiting.len())
	f.wakeLocked()
	return nil
}

// listing is the queue that Replace builds.
type listing[T any] struct {
	*queue[T]
	items   int             // how many it was built from, without the refused ones
	refused map[string]bool // the keys of the refused items, which are neither queued nor deleted
}

// listed returns a listing with a Replaced delta for each item that is not refused.
func (f *DeltaFIFO[T]) listed(items []T) listing[T] {
	l := listing[T]{queue: newQueue[T](len(items)), refused: map[string]bool{}}
	for _, item := range items {
		key, d, err := f.config.Admit(deltafifo.Replaced, item)
		if err != nil {
			l.refused[key] = true
			continue
		}
		l.items++
		if twice := l.push(newRecord(key, d)); twice != nil {
			twice.append(d)
		}
	}
	return l
}

// has reports whether the list has an item with this key, perhaps a refused one.
func (l listing[T]) has(key string) bool {
	r := l.get(key)
	return r != nil && r.deltas[0].Type == deltafifo.Replaced || l.refused[key]
}

// addKnownTombstones appends a tombstone for each known object that is not listed. It runs without
// mu; addWaitingTombstonesLocked and recheckPoppedLocked correct the result.
func (f *DeltaFIFO[T]) addKnownTombstones(incoming listing[T]) {
	if f.known == nil {
		return
	}
	for _, key := range f.known.ListKeys() {
		if !incoming.has(key) {
			lastSeen, _ := f.known.GetByKey(key)
			incoming.push(newRecord(key, deltafifo.Tombstone(key, lastSeen)))
		}
	}
}

// addWaitingTombstonesLocked appends a tombstone to each waiting key that is not listed. Waiting
// deltas are newer than the store, so it drops the tombstone that was made from the store.
func (f *DeltaFIFO[T]) addWaitingTombstonesLocked(incoming listing[T]) (tombstones int) {
	for r := range f.waiting.all() {
		if incoming.has(r.key) {
			continue
		}
		incoming.remove(r.key)
		d := r.tombstone()
		f.appendLocked(r, d)
		f.queuedLocked(r.key, d)
		tombstones++
	}
	return tombstones
}

// recheckPoppedLocked decides again about the keys that were taken while the store was read. If one
// is still in flight, its tombstone is a tentative delete; see processedLocked.
func (f *DeltaFIFO[T]) recheckPoppedLocked(incoming listing[T]) {
	for _, key := range f.popped {
		if incoming.has(key) || f.waiting.get(key) != nil {
			continue
		}
		incoming.remove(key)
		if f.isInFlightLocked(key) {
			incoming.push(newRecord(key, f.inFlight.tombstone()))
			f.tentative = true
		} else if f.known != nil {
			if lastSeen, exists := f.known.GetByKey(key); exists {
				incoming.push(newRecord(key, deltafifo.Tombstone(key, lastSeen)))
			}
		}
	}
}

// absorbLocked appends a queue that was built without mu and reports its deltas.
func (f *DeltaFIFO[T]) absorbLocked(incoming *queue[T], join func(mine, theirs *record[T])) {
	if f.trace.Queued != nil {
		// Reported first, because absorb changes the records. depth counts the whole queue.
		depth := f.waiting.len()
		for r := range incoming.all() {
			if f.waiting.get(r.key) == nil {
				depth++
			}
		}
		for r := range incoming.all() {
			for _, d := range r.deltas {
				f.trace.Queued(r.key, d, depth)
			}
		}
	}
	f.waiting.absorb(incoming, join)
}

// populateLocked makes everything that waits the initial population if this is the first call.
func (f *DeltaFIFO[T]) populateLocked() {
	if f.populated {
		return
	}
	f.populated = true
	for r := range f.waiting.all() {
		r.initial = true
	}
	f.initialLeft = f.waiting.len()
	f.checkSyncedLocked()
}

// Resync skips keys that wait or are in flight: their deltas are newer than the store, and a Sync
// after them would restore the old state.
func (f *DeltaFIFO[T]) Resync() error {
	f.beginScan()
	defer f.endScan()
	incoming := f.syncs()

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return deltafifo.ErrFIFOClosed
	}
	known := incoming.len()
	for _, key := range f.popped { // the store may have changed since it was read
		incoming.remove(key)
	}
	for r := range f.waiting.all() {
		incoming.remove(r.key)
	}
	queued := incoming.len()
	f.absorbLocked(incoming, func(_, _ *record[T]) {})
	f.trace.Resynced(queued, known-queued, f.waiting.len())
	f.wakeLocked()
	return nil
}

// syncs returns a queue with a Sync for each known object.
func (f *DeltaFIFO[T]) syncs() *queue[T] {
	if f.known == nil {
		return newQueue[T](0)
	}
	keys := f.known.ListKeys()
	incoming := newQueue[T](len(keys))
	for _, key := range keys {
		if obj, exists := f.known.GetByKey(key); exists && incoming.get(key) == nil {
			incoming.push(newRecord(key, deltafifo.Delta[T]{Type: deltafifo.Sync, Object: obj}))
		}
	}
	return incoming
}
