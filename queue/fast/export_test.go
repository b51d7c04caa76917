package fast

import "fmt"

// MaxBatch is how many keys a batch has at most.
const MaxBatch = maxBatch

// Check checks the invariants, for tests outside the package.
func (q *Queue[K]) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.checkLocked()
}

// checkLocked returns an error that names the first invariant that does not hold.
func (q *Queue[K]) checkLocked() error {
	for _, check := range []func() error{
		q.checkRecordsLocked, q.checkOrderLocked, q.checkProcessingLocked, q.checkDelaysLocked,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue[K]) checkRecordsLocked() (err error) {
	q.records.All(func(ref uint32, r *record[K]) {
		if _, found := q.records.Find(r.Key, q.records.Hash(r.Key)); found != r || q.records.At(ref) != r {
			err = fmt.Errorf("the record of %v is not found by its key", r.Key)
		}
		if !r.Value.dirty && !r.Value.processing() && !r.Value.delayed() {
			err = fmt.Errorf("the record of %v holds no state", r.Key)
		}
	})
	return err
}

func (q *Queue[K]) checkOrderLocked() error {
	queued := 0
	q.records.All(func(_ uint32, r *record[K]) {
		if r.Value.queued() {
			queued++
		}
	})
	if queued != q.fifo.Len() {
		return fmt.Errorf("%d keys are queued, %d are in the order", queued, q.fifo.Len())
	}
	seen := map[K]bool{}
	for i := range q.fifo.Len() {
		r := q.records.At(q.fifo.At(i))
		if !r.Value.queued() || seen[r.Key] {
			return fmt.Errorf("%v is in the order, queued %v, seen before %v", r.Key, r.Value.queued(), seen[r.Key])
		}
		seen[r.Key] = true
	}
	return nil
}

func (q *Queue[K]) checkProcessingLocked() error {
	for i, h := range q.processing {
		r := q.records.At(h.ref)
		if r.Key != h.key || int(r.Value.processingPlace) != i+1 || q.placeLocked(h.key) != i {
			return fmt.Errorf("%v has processing place %d at %d", h.key, r.Value.processingPlace, i)
		}
	}
	return nil
}

func (q *Queue[K]) checkDelaysLocked() error {
	for i := range q.delays.len() {
		r := q.delays.at(i)
		if int(r.Value.delayPlace) != i+1 {
			return fmt.Errorf("%v has heap place %d at %d", r.Key, r.Value.delayPlace, i)
		}
		if i > 0 && r.Value.before(&q.delays.at((i-1)/heapArity).Value) {
			return fmt.Errorf("%v is due before its parent", r.Key)
		}
	}
	if q.delays.len() > 0 {
		if q.shuttingDown {
			return fmt.Errorf("%d delays after the shutdown", q.delays.len())
		}
		if _, first := q.delays.first(); q.alarm > first.Value.due {
			return fmt.Errorf("the timer fires at %v, a delay ends at %v", q.alarm, first.Value.due)
		}
	}
	return nil
}

// queued reports whether the key is queued.
func (s *state) queued() bool { return s.dirty && !s.processing() }
