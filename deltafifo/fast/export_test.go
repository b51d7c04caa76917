package fast

import (
	"errors"
	"fmt"
	"slices"

	"orrery/deltafifo"
)

// Check returns an error if an invariant of the queue is violated.
func (f *DeltaFIFO[T]) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.checkLocked()
}

// Reading reports whether a scan records taken keys.
func (f *DeltaFIFO[T]) Reading() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.popped != nil
}

// Prefer moves a waiting key to the front, for comparisons with another queue whose order between
// keys may differ.
func (f *DeltaFIFO[T]) Prefer(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := f.waiting
	at := slices.IndexFunc(q.order, func(r *record[T]) bool { return r != nil && r.key == key && len(r.deltas) > 0 })
	r := q.order[at]
	q.order = slices.Insert(slices.Delete(q.order, at, at+1), q.head, r)
}

func (f *DeltaFIFO[T]) checkLocked() error {
	if err := f.waiting.check(); err != nil {
		return err
	}
	if f.inFlight != nil && !f.tentative {
		if r := f.waiting.get(f.inFlight.key); r != nil && r.deltas[0].Type == deltafifo.Deleted {
			return fmt.Errorf("a deletion of %q was queued while it is in flight, and is not tentative", r.key)
		}
	}
	initial := 0
	for r := range f.waiting.all() {
		if r.initial {
			initial++
		}
	}
	if f.inFlight != nil && f.inFlight.initial {
		initial++
	}
	if initial != f.initialLeft && !(f.closed && initial < f.initialLeft) {
		return fmt.Errorf("%d initial keys are unprocessed, initialLeft is %d", initial, f.initialLeft)
	}
	if synced := f.populated && f.initialLeft == 0; synced != f.HasSynced() {
		return fmt.Errorf("HasSynced is %t and should be %t", f.HasSynced(), synced)
	}
	return nil
}

// check returns an error if the invariant is violated.
func (q *queue[T]) check() error {
	seen := make(map[string]bool, q.len())
	for r := range q.all() {
		if seen[r.key] {
			return fmt.Errorf("key %q is in the queue twice", r.key)
		}
		if q.get(r.key) != r {
			return fmt.Errorf("key %q is in the queue, but the table has another record for it", r.key)
		}
		seen[r.key] = true
	}
	if len(seen) != q.len() {
		return fmt.Errorf("the queue has %d keys, its table has %d", len(seen), q.len())
	}
	if q.len() == 0 && q.head != len(q.order) {
		return errors.New("an empty queue still has records")
	}
	return nil
}
