package fast

import "slices"

// Check returns an error if an invariant of the queue does not hold.
func (f *DeltaFIFO[T]) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checkLocked()
}

// Reading reports whether taken keys are written down because known objects are being read.
func (f *DeltaFIFO[T]) Reading() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.popped != nil
}

// Prefer makes a waiting key the next one. The comparison with another queue uses it where the order
// between keys may differ and what is told about each may not.
func (f *DeltaFIFO[T]) Prefer(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := f.waiting
	at := slices.IndexFunc(q.order, func(r *record[T]) bool { return r != nil && r.key == key && len(r.deltas) > 0 })
	r := q.order[at]
	q.order = slices.Insert(slices.Delete(q.order, at, at+1), q.head, r)
}
