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
	// Deferred so that it happens even if process never returns; err says so until it does.
	err = errUnfinished
	defer func() { err = f.finish(r, err) }()
	return deltas, process(r.key, deltas, r.initial)
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
	r := f.waiting.take()
	f.inFlight = r
	if f.popped != nil {
		f.popped = append(f.popped, r.key)
	}
	if f.trace.Popped != nil {
		f.trace.Popped(r.key, r.deltas, r.initial, f.waiting.len())
	}
	return r
}

// finish ends the flight of r and returns what Pop returns.
func (f *DeltaFIFO[T]) finish(r *record[T], err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight = nil
	if f.trace.Processed != nil {
		f.trace.Processed(r.key, r.deltas, err)
	}
	requeue, again := errors.AsType[*ErrRequeue](err)
	switch {
	case !again:
		f.settleLocked(r)
	case !f.closed:
		f.requeueLocked(r)
		err = requeue.Err
	default:
		// Refused. The caller may still apply the deltas, so nothing can be judged, and nobody
		// can say that they were processed: if they are initial, HasSynced stays false.
	}
	if f.closed {
		f.ready.Broadcast() // all of them have to learn that there is nothing left
	} else if f.waiting.len() > 0 {
		f.ready.Signal()
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
	if newer := f.waiting.get(r.key); newer != nil && newer.deltas[0].Type == Deleted {
		lastSeen, held := f.heldLocked(r)
		switch {
		case !held:
			f.withdrawLocked(newer)
		case newer.deltas[0].Tombstone != nil:
			newer.deltas[0] = tombstone(r.key, lastSeen)
		}
	}
	f.leftLocked(r)
	f.checkSyncedLocked()
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
