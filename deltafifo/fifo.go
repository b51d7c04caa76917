package deltafifo

import (
	"fmt"
	"sync"
)

// DeltaFIFO collects what happens to objects and hands it out one object at a time: the package
// documentation explains how and why. All methods may be called from any goroutine; it starts
// none. Create one with New.
//
// Close ends it: afterwards what came in before is still handed out, everything else is refused.
type DeltaFIFO[T any] struct {
	keyFunc   func(T) (string, error)
	known     KeyListerGetter[T] // nil: only what waits here is known
	transform func(T) (T, error) // nil: objects are queued as they are
	trace     *Trace[T]          // never nil, its fields may be

	// synced is closed, under mu, when the initial population has been processed.
	synced chan struct{}

	// scanning is held by the one Replace or Resync that is reading the known objects. It is
	// taken before mu, never while mu is held, and nothing waits for a consumer under it.
	scanning sync.Mutex

	// mu guards everything below. It is never held while a process function, KeyFunc or
	// Transform runs.
	mu sync.Mutex
	// ready is signalled when a blocked Pop may have something to do: nothing is in flight, and
	// something waits or the queue is closed.
	ready sync.Cond

	// waiting holds the deltas of every key that waits, in order of the first delta.
	waiting *line[T]
	// inFlight is what a process function is working on, nil if none runs. There is never more
	// than one: order per key would be lost if two Pops could have deltas of the same key.
	inFlight *record[T]
	// suspect: what waits for the key in flight begins with a deletion that nobody can judge before
	// the flight has ended (see settleLocked). Nearly always there is none, and no need to look.
	suspect bool
	// popped collects the keys that are taken while known objects are being read outside mu
	// (see scan.go), and the one in flight when that began. Nil when nobody reads.
	popped []string

	// populated: something came in by Add, Update, Delete or Replace.
	populated bool
	// initialLeft counts the keys of the initial population that were not processed yet. It is
	// the number of records with initial set that wait or are in flight, and of those that were
	// to be put back after Close.
	initialLeft int
	closed      bool
}

// New returns an empty queue. It panics if there is no KeyFunc, without which nothing could ever
// be queued.
func New[T any](cfg Config[T]) *DeltaFIFO[T] {
	if cfg.KeyFunc == nil {
		panic("deltafifo: Config.KeyFunc is required")
	}
	f := &DeltaFIFO[T]{
		keyFunc:   cfg.KeyFunc,
		known:     cfg.KnownObjects,
		transform: cfg.Transform,
		trace:     cfg.Trace,
		synced:    make(chan struct{}),
		waiting:   newLine[T](0),
	}
	if f.trace == nil {
		f.trace = new(Trace[T])
	}
	f.ready.L = &f.mu
	return f
}

// Add queues that obj exists now. It returns a *KeyError, a *TransformError or ErrFIFOClosed,
// and then has queued nothing. It never waits for a consumer.
func (f *DeltaFIFO[T]) Add(obj T) error { return f.enqueue(Added, obj) }

// Update queues that obj changed. Errors are those of Add.
func (f *DeltaFIFO[T]) Update(obj T) error { return f.enqueue(Updated, obj) }

// Delete queues that obj is gone; obj is the last state that the watch reported. If nothing
// waits for the key and the known objects do not hold it, nobody needs to be told and the call
// does nothing: the last list already told it. Errors are those of Add.
func (f *DeltaFIFO[T]) Delete(obj T) error { return f.enqueue(Deleted, obj) }

func (f *DeltaFIFO[T]) enqueue(typ DeltaType, obj T) error {
	key, obj, err := f.admit(obj)
	if err != nil {
		return err
	}
	d := Delta[T]{Type: typ, Object: obj}
	fresh := newRecord(key, d) // which nearly every call needs; allocating it under mu would keep others out

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrFIFOClosed
	}
	// Whoever does not begin with a list has no initial population to wait for.
	if !f.populated {
		f.populated = true
		f.checkSyncedLocked()
	}
	if typ == Deleted {
		if !f.concernsLocked(key) {
			f.ignoredLocked(key, d)
			return nil
		}
		f.suspect = f.suspect || f.inFlight != nil && f.inFlight.key == key
	}
	f.pushLocked(fresh, d)
	f.wakeLocked()
	return nil
}

// admit does what needs no lock: it computes the key and transforms the object.
func (f *DeltaFIFO[T]) admit(obj T) (string, T, error) {
	key, err := f.keyFunc(obj)
	if err != nil {
		return "", obj, &KeyError{Obj: obj, Err: err}
	}
	if f.transform == nil {
		return key, obj, nil
	}
	transformed, err := f.transform(obj)
	if err != nil {
		return "", obj, &TransformError{Key: key, Err: err}
	}
	return key, transformed, nil
}

// concernsLocked reports whether the consumer may have to be told that the key is gone. While
// the key is in flight nobody can say yet; finish decides when it is no longer.
func (f *DeltaFIFO[T]) concernsLocked(key string) bool {
	if f.waiting.get(key) != nil || f.inFlight != nil && f.inFlight.key == key {
		return true
	}
	if f.known == nil {
		return false
	}
	_, exists := f.known.GetByKey(key)
	return exists
}

// pushLocked adds d to what waits for its key: to a record that is there, else with the fresh one.
func (f *DeltaFIFO[T]) pushLocked(fresh *record[T], d Delta[T]) {
	if r := f.waiting.push(fresh); r != nil {
		f.appendLocked(r, d)
	}
	f.queuedLocked(fresh.key, d)
}

// appendLocked adds d to a record that waits.
func (f *DeltaFIFO[T]) appendLocked(r *record[T], d Delta[T]) {
	dropped, collapsed := r.append(d)
	if collapsed && f.trace.Deduplicated != nil {
		f.trace.Deduplicated(r.key, r.deltas[len(r.deltas)-1], dropped)
	}
}

func (f *DeltaFIFO[T]) queuedLocked(key string, d Delta[T]) {
	if f.trace.Queued != nil {
		f.trace.Queued(key, d, f.waiting.len())
	}
}

func (f *DeltaFIFO[T]) ignoredLocked(key string, d Delta[T]) {
	if f.trace.Ignored != nil {
		f.trace.Ignored(key, d)
	}
}

// wakeLocked wakes one blocked Pop after something was queued. While an item is in flight there
// is no need to: finish wakes the next one, and so on as long as something waits.
func (f *DeltaFIFO[T]) wakeLocked() {
	if f.inFlight == nil {
		f.ready.Signal()
	}
}

// checkSyncedLocked closes synced once the initial population has been processed.
func (f *DeltaFIFO[T]) checkSyncedLocked() {
	if !f.populated || f.initialLeft > 0 || f.HasSynced() {
		return
	}
	close(f.synced)
	if f.trace.Synced != nil {
		f.trace.Synced()
	}
}

// HasSynced reports whether the initial population has been processed: everything that the first
// Replace brought or buried has been through a process function and is in the store. If an Add,
// Update or Delete came first there was no initial population, and it is true from then on.
func (f *DeltaFIFO[T]) HasSynced() bool {
	select {
	case <-f.synced:
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed when HasSynced becomes true.
func (f *DeltaFIFO[T]) Synced() <-chan struct{} { return f.synced }

// Close lets the queue run dry: what waits is still handed out, new deltas and requests to put
// something back are refused, and every blocked Pop wakes up. It does not wait. Closing twice is
// no error.
func (f *DeltaFIFO[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	f.ready.Broadcast()
	if f.trace.Closed != nil {
		f.trace.Closed(f.waiting.len())
	}
}

// IsClosed reports whether Close was called.
func (f *DeltaFIFO[T]) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Len returns the number of keys that wait. A key that is being processed is not among them.
func (f *DeltaFIFO[T]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting.len()
}

// KeyOf returns the key of what Pop handed out, for callers that look at its result and not at
// the arguments of the process function: the tombstone's key, else that of the newest object.
// The error is a *KeyError.
func (f *DeltaFIFO[T]) KeyOf(d Deltas[T]) (string, error) {
	newest, ok := d.Newest()
	if !ok {
		return "", &KeyError{Obj: d, Err: ErrZeroLengthDeltas}
	}
	if newest.Tombstone != nil {
		return newest.Tombstone.Key, nil
	}
	key, err := f.keyFunc(newest.Object)
	if err != nil {
		return "", &KeyError{Obj: newest.Object, Err: err}
	}
	return key, nil
}

// checkLocked returns an error if one of the invariants does not hold. Tests call it.
func (f *DeltaFIFO[T]) checkLocked() error {
	if err := f.waiting.check(); err != nil {
		return err
	}
	if f.inFlight != nil && !f.suspect {
		if r := f.waiting.get(f.inFlight.key); r != nil && r.deltas[0].Type == Deleted {
			return fmt.Errorf("a deletion of %q was queued while it is in flight, and nobody is going to judge it", r.key)
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
		return fmt.Errorf("%d keys of the initial population are left, the count says %d", initial, f.initialLeft)
	}
	if synced := f.populated && f.initialLeft == 0; synced != f.HasSynced() {
		return fmt.Errorf("synced is %t and should be %t", f.HasSynced(), synced)
	}
	return nil
}
