package queue

import "fmt"

// KeepSettled is for tests outside of the package.
const KeepSettled = keepSettled

// Check asserts the invariants, for tests outside of the package.
func (q *Queue[K]) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.checkLocked()
}

// checkLocked returns an error that names the first invariant that does not hold.
func (q *Queue[K]) checkLocked() error {
	for _, check := range []func() error{
		q.checkRecordsLocked, q.checkTableLocked, q.checkOrderLocked, q.checkProcessingLocked, q.checkDelaysLocked,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue[K]) checkRecordsLocked() (err error) {
	settled := 0
	q.records.all(func(ref uint32, r *record[K]) {
		if _, _, found := q.records.find(r.key, q.records.hash(r.key)); found != r || q.records.at(ref) != r {
			err = fmt.Errorf("the record of %v is not found by its key", r.key)
		}
		if r.value.settled() {
			settled++
		}
	})
	if settled != q.settled {
		return fmt.Errorf("%d records are settled, %d are counted", settled, q.settled)
	}
	return err
}

func (q *Queue[K]) checkTableLocked() error { return q.records.check() }

func (t *table[K, V]) check() error {
	used := 0
	for _, s := range t.slots {
		if s != 0 {
			used++
			if c := t.chunks[s.ref()/chunkSize]; c.hashes[s.ref()%chunkSize] != s.hash() {
				return fmt.Errorf("the hash of reference %d differs", s.ref())
			}
		}
	}
	switch all := (len(t.chunks) - 1 - len(t.holes)) * chunkSize; {
	case t.live != used:
		return fmt.Errorf("%d live records in %d slots", t.live, used)
	case 4*t.live > 3*len(t.slots):
		return fmt.Errorf("%d live records in a table of %d", t.live, len(t.slots))
	case len(t.chunks) > 0 && all-int(t.end-t.next)-len(t.free) != t.live:
		return fmt.Errorf("room for %d records, %d never used, %d free, %d live", all, t.end-t.next, len(t.free), t.live)
	}
	for _, ref := range t.free {
		c := t.chunks[ref/chunkSize]
		if c.hashes[ref%chunkSize] != 0 || any(c.entries[ref%chunkSize]) != any(entry[K, V]{}) {
			return fmt.Errorf("free record %d is not zero", ref)
		}
	}
	return nil
}

func (q *Queue[K]) checkOrderLocked() error {
	queued := 0
	q.records.all(func(_ uint32, r *record[K]) {
		if r.value.queued() {
			queued++
		}
	})
	if queued != q.lenLocked() {
		return fmt.Errorf("%d keys are queued, %d are in the order", queued, q.lenLocked())
	}
	seen := map[K]bool{}
	for i := range q.fifo.len() {
		r := q.records.at(q.fifo.at(i))
		if !r.value.queued() || seen[r.key] {
			return fmt.Errorf("%v is in the order, queued %v, seen before %v", r.key, r.value.queued(), seen[r.key])
		}
		seen[r.key] = true
	}
	return nil
}

func (q *Queue[K]) checkProcessingLocked() error {
	for i, h := range q.processing {
		r := q.records.at(h.ref)
		if r.key != h.key || int(r.value.processingPlace) != i+1 || q.holdingLocked(h.key) != i {
			return fmt.Errorf("%v has processing place %d at %d", h.key, r.value.processingPlace, i)
		}
	}
	return nil
}

func (q *Queue[K]) checkDelaysLocked() error {
	for i := range q.delays.len() {
		r := q.delays.at(i)
		if int(r.value.delayPlace) != i+1 {
			return fmt.Errorf("%v has heap place %d at %d", r.key, r.value.delayPlace, i)
		}
		if i > 0 && r.value.before(&q.delays.at((i-1)/heapArity).value) {
			return fmt.Errorf("%v comes before its parent", r.key)
		}
	}
	if q.delays.len() > 0 {
		if q.shuttingDown {
			return fmt.Errorf("%d delays after the shutdown", q.delays.len())
		}
		if _, first := q.delays.first(); q.alarm > first.value.due {
			return fmt.Errorf("the timer fires at %v, a delay ends at %v", q.alarm, first.value.due)
		}
	}
	return nil
}
