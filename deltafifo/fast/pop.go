package fast

import (
	"errors"
	"slices"

	"orrery/deltafifo"
)

// Pop blocks until a key waits and no other process function runs. process may keep the deltas but
// not change them: hooks see them, and they may be requeued. It must not call Pop, which would wait
// for itself.
//
// If process returns an *ErrRequeue, the deltas wait again and Pop returns its Err. A key without
// newer deltas goes to the end of the queue. Otherwise the old deltas go before the newer ones, in
// their place. After any other error or a panic the deltas count as processed. After Close nothing
// is requeued: Pop returns the error with the *ErrRequeue in it, and the caller owns the deltas.
func (f *DeltaFIFO[T]) Pop(process func(key string, d deltafifo.Deltas[T],
	isInInitialList bool) error) (_ deltafifo.Deltas[T], err error) {
	r := f.take()
	if r == nil {
		return nil, deltafifo.ErrFIFOClosed
	}
	deltas := r.deltas
	_, err = f.handOut(r, process, false)
	return deltas, err
}

// PopBatch is Pop for up to limit keys, one after the other. It blocks for the first one and
// returns when no key waits or with the first error. Each key is taken with all deltas that wait
// for it at that moment, so everything said of Pop holds; finishing a key and taking the next is
// one step. PopBatch returns the number of keys handed out, including the one with the error.
// Another Pop waits until the batch ends.
func (f *DeltaFIFO[T]) PopBatch(limit int,
	process func(key string, d deltafifo.Deltas[T], isInInitialList bool) error) (keys int, err error) {
	r := f.take()
	if r == nil {
		return 0, deltafifo.ErrFIFOClosed
	}
	for r != nil && err == nil {
		keys++
		r, err = f.handOut(r, process, keys < limit)
	}
	return keys, err
}

// handOut passes r to process and ends its flight. If more is set and there was no error, the next
// record is in flight afterwards.
func (f *DeltaFIFO[T]) handOut(r *record[T], process func(key string, d deltafifo.Deltas[T],
	isInInitialList bool) error, more bool) (next *record[T], err error) {
	err = deltafifo.ErrUnfinished // unless process returns
	defer func() { next, err = f.finish(r, err, more) }()
	return nil, process(r.key, r.deltas, r.initial)
}

// take blocks until it can put a record in flight and returns it, or nil once the queue is closed.
func (f *DeltaFIFO[T]) take() *record[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.inFlight != nil || f.waiting.len() == 0 {
		if f.closed && f.inFlight == nil {
			return nil
		}
		f.ready.Wait()
	}
	return f.takeLocked()
}

// takeLocked puts the first record in flight. A record must wait and none be in flight.
func (f *DeltaFIFO[T]) takeLocked() *record[T] {
	r := f.waiting.pop()
	f.inFlight, f.tentative = r, false
	if f.popped != nil {
		f.popped = append(f.popped, r.key)
	}
	if f.trace.Popped != nil {
		f.trace.Popped(r.key, r.deltas, r.initial, f.waiting.len())
	}
	return r
}

// finish ends the flight of r. It returns the result of Pop, and the next record if more is set.
func (f *DeltaFIFO[T]) finish(r *record[T], err error, more bool) (*record[T], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight = nil
	if f.trace.Processed != nil {
		f.trace.Processed(r.key, r.deltas, err)
	}
	if err == nil {
		f.processedLocked(r)
	} else {
		err = f.failedLocked(r, err)
	}
	switch {
	case err == nil && more && f.waiting.len() > 0:
		return f.takeLocked(), nil
	case f.closed:
		f.ready.Broadcast() // every blocked Pop returns
	case f.waiting.len() > 0:
		f.ready.Signal()
	}
	return nil, err
}

// failedLocked handles an error of the process function and returns the result of Pop.
func (f *DeltaFIFO[T]) failedLocked(r *record[T], err error) error {
	requeue, again := errors.AsType[*deltafifo.ErrRequeue](err)
	switch {
	case !again:
		f.processedLocked(r)
	case !f.closed:
		f.requeueLocked(r)
		return requeue.Err
	default:
		// Refused. The deltas were not processed: if they are initial, HasSynced stays false.
	}
	return err
}

// requeueLocked puts r back, before newer deltas of its key.
func (f *DeltaFIFO[T]) requeueLocked(r *record[T]) {
	back := r.clone()
	if newer := f.waiting.get(r.key); newer != nil {
		for _, d := range newer.deltas {
			f.appendLocked(back, d)
		}
		newer.deltas = back.deltas
		newer.initial = newer.initial || back.initial
		back = newer
	} else {
		f.waiting.push(back)
	}
	f.trace.Requeued(back.key, slices.Clone(back.deltas), f.waiting.len())
}

// processedLocked counts r as processed and resolves a tentative delete.
//
// A deletion that arrives while its key is in flight, from Delete or as a tombstone of Replace, is
// queued as a tentative delete: only now does the store show whether the consumer holds the object.
// If the deletion is the oldest waiting delta, a moment later it would have been ignored for an
// object that the store does not hold, and a tombstone would carry the store's present state.
func (f *DeltaFIFO[T]) processedLocked(r *record[T]) {
	if f.tentative {
		f.resolveLocked(r)
	}
	f.countDownLocked(r)
	f.checkSyncedLocked()
}

// resolveLocked keeps, corrects or cancels the deletion that waits first for the key of r.
func (f *DeltaFIFO[T]) resolveLocked(r *record[T]) {
	if newer := f.waiting.get(r.key); newer != nil && newer.deltas[0].Type == deltafifo.Deleted {
		lastSeen, held := f.heldLocked(r)
		switch {
		case !held:
			f.cancelLocked(newer)
		case newer.deltas[0].Tombstone != nil:
			newer.deltas[0] = deltafifo.Tombstone(r.key, lastSeen)
		}
	}
}

// heldLocked returns the object that the consumer holds under the key of r, which was just
// processed.
func (f *DeltaFIFO[T]) heldLocked(r *record[T]) (T, bool) {
	if f.known == nil {
		newest := r.deltas[len(r.deltas)-1]
		return newest.Object, newest.Type != deltafifo.Deleted
	}
	return f.known.GetByKey(r.key)
}

// cancelLocked removes the oldest delta of r, a deletion of an object that the consumer does not
// hold.
func (f *DeltaFIFO[T]) cancelLocked(r *record[T]) {
	canceled := r.deltas[0]
	if len(r.deltas) > 1 {
		r.deltas = r.deltas[1:]
	} else {
		f.countDownLocked(r)
		f.waiting.remove(r.key)
	}
	f.trace.Canceled(r.key, canceled)
}

func (f *DeltaFIFO[T]) countDownLocked(r *record[T]) {
	if r.initial {
		f.initialLeft--
	}
}
