package deltafifo

// Replace makes items the whole truth: each of them is queued as Replaced, and everything that
// waits or is known but is not among them is queued as Deleted, with a tombstone. The tombstone
// holds the newest state that waits, else the one in the store, else (if the store cannot find
// it) nothing. Keys that wait already keep their place; after them come the items in the order
// given and then the tombstones of keys that did not wait.
//
// If a list is the first thing that comes in, all of this is the initial population.
//
// Errors are those of Add and mean that nothing at all was queued: with one item unknown, nobody
// could say what is missing from the list. resourceVersion is only told to the hooks. Like all
// methods but Pop, Replace never waits for a consumer.
func (f *DeltaFIFO[T]) Replace(items []T, resourceVersion string) error {
	incoming, err := f.lineUp(items)
	if err != nil {
		return err
	}
	listed := incoming.len()
	f.beginScan()
	defer f.endScan()
	f.buryKnown(incoming)

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrFIFOClosed
	}
	buried := f.buryWaitingLocked(incoming)
	f.buryPoppedLocked(incoming)
	buried += incoming.len() - listed
	f.absorbLocked(incoming, func(mine, theirs *record[T]) {
		for _, d := range theirs.deltas {
			f.appendLocked(mine, d)
		}
	})
	f.populateLocked()
	if f.trace.Replaced != nil {
		f.trace.Replaced(resourceVersion, len(items), buried, f.waiting.len())
	}
	f.wakeLocked()
	return nil
}

// lineUp returns a line of Replaced deltas, one for each item.
func (f *DeltaFIFO[T]) lineUp(items []T) (*line[T], error) {
	incoming := newLine[T](len(items))
	for _, item := range items {
		key, obj, err := f.admit(item)
		if err != nil {
			return nil, err
		}
		d := Delta[T]{Type: Replaced, Object: obj}
		r := newRecord(key, d)
		r.listedAt = int32(incoming.len())
		if twice := incoming.push(r); twice != nil {
			twice.append(d)
		}
	}
	return incoming, nil
}

// lists reports whether the line that Replace builds holds the key because it was listed, and
// not because it was buried.
func lists[T any](incoming *line[T], key string) bool {
	r := incoming.get(key)
	return r != nil && r.deltas[0].Type == Replaced
}

// buryKnown appends a tombstone for each known object that is not listed. It runs outside mu;
// buryWaitingLocked and buryPoppedLocked correct what it cannot know.
func (f *DeltaFIFO[T]) buryKnown(incoming *line[T]) {
	if f.known == nil {
		return
	}
	listed := follower[T]{line: incoming, order: incoming.order}
	for _, key := range f.known.ListKeys() {
		if !listed.has(key) {
			lastSeen, _ := f.known.GetByKey(key)
			incoming.push(newRecord(key, tombstone(key, lastSeen)))
		}
	}
}

// buryWaitingLocked appends a tombstone to each waiting key that is not listed. What waits is
// newer than what the store holds, so the tombstone that was made from the store goes.
func (f *DeltaFIFO[T]) buryWaitingLocked(incoming *line[T]) (buried int) {
	for r := range f.waiting.all() {
		if lists(incoming, r.key) {
			continue
		}
		incoming.drop(r.key)
		d := r.buried()
		f.appendLocked(r, d)
		f.queuedLocked(r.key, d)
		buried++
	}
	return buried
}

// buryPoppedLocked judges anew the keys that consumers had in hand while the store was read.
// For the one that is still in flight the store cannot tell yet: it is buried on suspicion, and
// settleLocked drops the tombstone if the consumer turns out not to hold the object.
func (f *DeltaFIFO[T]) buryPoppedLocked(incoming *line[T]) {
	for _, key := range f.popped {
		if lists(incoming, key) || f.waiting.get(key) != nil {
			continue
		}
		incoming.drop(key)
		if f.inFlight != nil && f.inFlight.key == key {
			incoming.push(newRecord(key, f.inFlight.buried()))
			f.suspect = true
		} else if f.known != nil {
			if lastSeen, exists := f.known.GetByKey(key); exists {
				incoming.push(newRecord(key, tombstone(key, lastSeen)))
			}
		}
	}
}

// absorbLocked appends a line that was built outside mu and reports its deltas.
func (f *DeltaFIFO[T]) absorbLocked(incoming *line[T], join func(mine, theirs *record[T])) {
	if f.trace.Queued != nil {
		// Reported first, since the records of incoming are not its own afterwards. The depth is
		// that of the line with all of them.
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

// populateLocked makes everything that waits the initial population, if nothing came in before.
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
