package queue

import "fmt"

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
	q.records.all(func(r *record[K]) {
		if _, found := q.records.find(r.key, q.records.hash(r.key)); found != r {
			err = fmt.Errorf("the record of %v is not found by its key", r.key)
		}
		if r.value.settled() {
			err = fmt.Errorf("the record of %v has nothing to remember", r.key)
		}
	})
	return err
}

func (q *Queue[K]) checkTableLocked() error {
	used := 0
	for _, ref := range q.records.slots {
		if ref != 0 {
			used++
		}
	}
	t := &q.records
	switch {
	case t.live != used:
		return fmt.Errorf("%d live records in %d slots", t.live, used)
	case 2*t.live > len(t.slots):
		return fmt.Errorf("%d live records in a table of %d", t.live, len(t.slots))
	case int(t.used)-len(t.free) != t.live:
		return fmt.Errorf("%d records, %d free, %d live", t.used, len(t.free), t.live)
	}
	for _, ref := range t.free {
		if *t.at(ref) != (record[K]{}) {
			return fmt.Errorf("free record %d is not zero", ref)
		}
	}
	return nil
}

func (q *Queue[K]) checkOrderLocked() error {
	queued := 0
	q.records.all(func(r *record[K]) {
		if r.value.queued() {
			queued++
		}
	})
	if queued != q.lenLocked() {
		return fmt.Errorf("%d keys are queued, %d are in the order", queued, q.lenLocked())
	}
	seen := map[K]bool{}
	for i := range q.fifo.len() {
		r := q.fifo.at(i)
		if !r.value.queued() || seen[r.key] {
			return fmt.Errorf("%v is in the order, queued %v, seen before %v", r.key, r.value.queued(), seen[r.key])
		}
		seen[r.key] = true
	}
	return nil
}

func (q *Queue[K]) checkProcessingLocked() error {
	for i, r := range q.processing {
		if int(r.value.processingPlace) != i+1 {
			return fmt.Errorf("%v has processing place %d at %d", r.key, r.value.processingPlace, i)
		}
	}
	return nil
}

func (q *Queue[K]) checkDelaysLocked() error {
	for i, r := range q.delays {
		if int(r.value.delayPlace) != i+1 {
			return fmt.Errorf("%v has heap place %d at %d", r.key, r.value.delayPlace, i)
		}
		if i > 0 && r.value.before(&q.delays[(i-1)/heapArity].value) {
			return fmt.Errorf("%v comes before its parent", r.key)
		}
	}
	if len(q.delays) > 0 {
		if q.shuttingDown {
			return fmt.Errorf("%d delays after the shutdown", len(q.delays))
		}
		if q.alarm > q.delays[0].value.due {
			return fmt.Errorf("the timer fires at %v, a delay ends at %v", q.alarm, q.delays[0].value.due)
		}
	}
	return nil
}
