package deltafifo

import (
	"errors"
	"slices"
)

// Pop waits until some key has something to tell, hands all its deltas to process, and returns
// them with the error that process returned.
//
//   - The key is the one that has waited longest. isInInitialList says that it belongs to the
//     initial population (see HasSynced).
//   - One process function runs at a time; a second Pop waits for the first. Calls that put
//     something in do not wait: process may call them itself, and a slow one delays no watch.
//     It must not call Pop, which would wait for itself.
//   - When process returns, the known objects must show what it was told. It may keep the deltas
//     but not change them: hooks see them too, and they may have to be put back.
//   - If process returns an *ErrRequeue the deltas wait again and Pop returns its Err. A key
//     without newer deltas goes to the end of the line, so that one key that fails for ever
//     delays no other. If newer ones came in, the old ones go in front of them, in the place
//     that the newer ones have: nothing is lost and the order per key stays.
//   - Any other error only travels to the caller. The deltas count as processed.
//   - If process panics the deltas count as processed as well, so that one bad object can keep
//     the queue neither busy nor unsynced for ever, and the panic goes on to the caller.
//
// From Close on Pop hands out what still waits and then returns nil and ErrFIFOClosed, when
// everything has been handed out and processed. Nothing is put back then, since the line might
// never end: the error is what process returned, with the *ErrRequeue in it, and the deltas are
// the caller's.
func (f *DeltaFIFO[T]) Pop(process func(key string, d Deltas[T], isInInitialList bool) error) (_ Deltas[T], err error) {
	r := f.take()
	if r == nil {
		return nil, ErrFIFOClosed
	}
	deltas := r.deltas
	_, err = f.handOut(r, process, false)
	return deltas, err
}

// PopBatch is Pop for as many keys as wait, one after the other, at most so many: it waits for the
// first, and returns when nothing waits any more, or with the first error, which ends the batch. The
// keys are taken one at a time, each with all that waits for it then, so everything that is said of
// Pop holds; it only costs less, since putting a key away and taking the next is one step. It
// returns how many keys were handed out, the one with the error included.
//
// Another Pop waits until the batch ends.
func (f *DeltaFIFO[T]) PopBatch(limit int, process func(key string, d Deltas[T], isInInitialList bool) error) (keys int, err error) {
	r := f.take()
	if r == nil {
		return 0, ErrFIFOClosed
	}
	for r != nil && err == nil {
		keys++
		r, err = f.handOut(r, process, keys < limit)
	}
	return keys, err
}

// handOut hands r to process and ends its flight. If more are wanted, and there was no error, the
// next record is in flight then.
func (f *DeltaFIFO[T]) handOut(r *record[T], process func(key string, d Deltas[T], isInInitialList bool) error, more bool) (next *record[T], err error) {
	// Deferred so that it happens even if process never returns; err says so until it does.
	err = errUnfinished
	defer func() { next, err = f.finish(r, err, more) }()
	return nil, process(r.key, r.deltas, r.initial)
}

// take waits for the first record and puts it in flight. It returns nil when there will be none.
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

// takeLocked puts the first record in flight. There is one, and nothing is in flight.
func (f *DeltaFIFO[T]) takeLocked() *record[T] {
	r := f.waiting.take()
	f.inFlight, f.suspect = r, false
	if f.popped != nil {
		f.popped = append(f.popped, r.key)
	}
	if f.trace.Popped != nil {
		f.trace.Popped(r.key, r.deltas, r.initial, f.waiting.len())
	}
	return r
}

// finish ends the flight of r and returns what Pop returns, and the next record if more are wanted.
func (f *DeltaFIFO[T]) finish(r *record[T], err error, more bool) (*record[T], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight = nil
	if f.trace.Processed != nil {
		f.trace.Processed(r.key, r.deltas, err)
	}
	if err == nil {
		f.settleLocked(r)
	} else {
		err = f.failedLocked(r, err)
	}
	switch {
	case err == nil && more && f.waiting.len() > 0:
		return f.takeLocked(), nil
	case f.closed:
		f.ready.Broadcast() // all of them have to learn that there is nothing left
	case f.waiting.len() > 0:
		f.ready.Signal()
	}
	return nil, err
}

// failedLocked does what the error of the process function of r asks for, and returns what Pop
// returns.
func (f *DeltaFIFO[T]) failedLocked(r *record[T], err error) error {
	requeue, again := errors.AsType[*ErrRequeue](err)
	switch {
	case !again:
		f.settleLocked(r)
	case !f.closed:
		f.requeueLocked(r)
		return requeue.Err
	default:
		// Refused. The caller may still apply the deltas, so nothing can be judged, and nobody
		// can say that they were processed: if they are initial, HasSynced stays false.
	}
	return err
}

// requeueLocked puts r back, in front of what came in for its key meanwhile.
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
	if f.trace.Requeued != nil {
		f.trace.Requeued(back.key, slices.Clone(back.deltas), f.waiting.len())
	}
}

// settleLocked counts r as processed and decides about a deletion that could not be judged
// before.
//
// A deletion that arrives while its key is in flight, from Delete or as a tombstone of Replace,
// is queued on suspicion: whether the consumer knows the object becomes clear only now. If the
// deletion is the oldest waiting delta it came in with nothing else waiting, so it would have
// been ignored had it come a moment later and found the store without the object; and a
// tombstone would have been made from what the store holds now.
func (f *DeltaFIFO[T]) settleLocked(r *record[T]) {
	if f.suspect {
		f.judgeLocked(r)
	}
	f.leftLocked(r)
	f.checkSyncedLocked()
}

// judgeLocked decides about what waits for the key of r.
func (f *DeltaFIFO[T]) judgeLocked(r *record[T]) {
	if newer := f.waiting.get(r.key); newer != nil && newer.deltas[0].Type == Deleted {
		lastSeen, held := f.heldLocked(r)
		switch {
		case !held:
			f.withdrawLocked(newer)
		case newer.deltas[0].Tombstone != nil:
			newer.deltas[0] = tombstone(r.key, lastSeen)
		}
	}
}

// heldLocked returns what the consumer holds under the key of r, which was just processed.
func (f *DeltaFIFO[T]) heldLocked(r *record[T]) (T, bool) {
	if f.known == nil {
		newest := r.deltas[len(r.deltas)-1]
		return newest.Object, newest.Type != Deleted
	}
	return f.known.GetByKey(r.key)
}

// withdrawLocked takes the oldest delta of r, a deletion that is no news, out of the line.
func (f *DeltaFIFO[T]) withdrawLocked(r *record[T]) {
	told := r.deltas[0]
	if len(r.deltas) > 1 {
		r.deltas = r.deltas[1:]
	} else {
		f.leftLocked(r)
		f.waiting.drop(r.key)
	}
	f.ignoredLocked(r.key, told)
}

// leftLocked counts r out of the initial population.
func (f *DeltaFIFO[T]) leftLocked(r *record[T]) {
	if r.initial {
		f.initialLeft--
	}
}
