package fast

import (
	"sync"

	"orrery/deltafifo"
)

// DeltaFIFO is a deltafifo.Interface (see there for the methods) whose producers never wait for the
// consumer. A process function may call all of them but Pop and PopBatch. Create it with New.
type DeltaFIFO[T any] struct {
	deltafifo.SyncFlag             // HasSynced and Synced
	setSynced          func() bool // called with mu held

	config deltafifo.Config[T]          // KnownObjects nil: only keys that wait or are in flight are known
	known  deltafifo.KeyListerGetter[T] // Config.KnownObjects
	trace  *deltafifo.Trace[T]          // Queued, Popped and Processed may be nil

	// scanning is held by the one Replace or Resync that reads the known objects. It is acquired
	// before mu, and nothing waits for a consumer while holding it.
	scanning sync.Mutex

	// mu guards everything below. It is not held while a process function, KeyFunc or Transform
	// runs.
	mu sync.Mutex
	// ready is signalled when a blocked Pop may continue: nothing is in flight, and a key waits or
	// the queue is closed.
	ready sync.Cond

	waiting *queue[T] // the deltas of every waiting key, in order of the first delta
	// inFlight is the record that a process function is working on, or nil. There is at most one:
	// two Pops with deltas of the same key would break the order per key.
	inFlight  *record[T]
	tentative bool // a deletion came for the key in flight; see processedLocked
	// popped collects the keys that are taken while Replace or Resync reads the known objects, and
	// the one in flight at the start; see beginScan. Nil if no scan runs.
	popped []string

	populated bool // a Replace, Add, Update or Delete came in
	// initialLeft counts the keys of the initial population that have not been processed: the
	// records with initial set that wait or are in flight, and those whose requeue was refused
	// after Close.
	initialLeft int
	closed      bool
}

// New returns a new queue. It panics if cfg has no KeyFunc.
func New[T any](cfg deltafifo.Config[T]) *DeltaFIFO[T] {
	if cfg.KeyFunc == nil {
		panic("deltafifo: Config.KeyFunc is required")
	}
	trace := cfg.Trace.CompleteRare()
	f := &DeltaFIFO[T]{config: cfg, known: cfg.KnownObjects, trace: trace, waiting: newQueue[T](0)}
	f.SyncFlag, f.setSynced = deltafifo.NewSyncFlag()
	f.ready.L = &f.mu
	return f
}

func (f *DeltaFIFO[T]) Add(obj T) error    { return f.enqueue(deltafifo.Added, obj) }
func (f *DeltaFIFO[T]) Update(obj T) error { return f.enqueue(deltafifo.Updated, obj) }
func (f *DeltaFIFO[T]) Delete(obj T) error { return f.enqueue(deltafifo.Deleted, obj) }

func (f *DeltaFIFO[T]) enqueue(typ deltafifo.DeltaType, obj T) error {
	key, d, err := f.config.Admit(typ, obj)
	if err != nil {
		return err
	}
	fresh := newRecord(key, d) // nearly every call needs it; allocated before the lock is taken

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return deltafifo.ErrFIFOClosed
	}
	if !f.populated { // without a list there is no initial population to wait for
		f.populated = true
		f.checkSyncedLocked()
	}
	if typ == deltafifo.Deleted {
		lastSeen, known := f.lastSeenLocked(key)
		if !known {
			f.trace.Ignored(key, d)
			return nil
		}
		if d.Tombstone != nil { // Transform refused the object
			d = deltafifo.Tombstone(key, lastSeen)
			fresh = newRecord(key, d)
		}
		f.tentative = f.tentative || f.isInFlightLocked(key)
	}
	f.pushLocked(fresh, d)
	f.wakeLocked()
	return nil
}

func (f *DeltaFIFO[T]) isInFlightLocked(key string) bool {
	return f.inFlight != nil && f.inFlight.key == key
}

// lastSeenLocked returns the newest object of the key: one that waits, is in flight, or is in the
// consumer's store. known is false if there is none.
func (f *DeltaFIFO[T]) lastSeenLocked(key string) (obj T, known bool) {
	r := f.waiting.get(key)
	if r == nil && f.isInFlightLocked(key) {
		r = f.inFlight
	}
	if r != nil {
		return r.newest(), true
	}
	if f.known == nil {
		return obj, false
	}
	return f.known.GetByKey(key)
}

// pushLocked appends d to the deltas that wait for its key, or queues the fresh record if none
// wait.
func (f *DeltaFIFO[T]) pushLocked(fresh *record[T], d deltafifo.Delta[T]) {
	if r := f.waiting.push(fresh); r != nil {
		f.appendLocked(r, d)
	}
	f.queuedLocked(fresh.key, d)
}

// appendLocked appends d to a waiting record.
func (f *DeltaFIFO[T]) appendLocked(r *record[T], d deltafifo.Delta[T]) {
	if dropped, collapsed := r.append(d); collapsed {
		f.trace.Deduplicated(r.key, r.deltas[len(r.deltas)-1], dropped)
	}
}

func (f *DeltaFIFO[T]) queuedLocked(key string, d deltafifo.Delta[T]) {
	if f.trace.Queued != nil {
		f.trace.Queued(key, d, f.waiting.len())
	}
}

// wakeLocked wakes one blocked Pop. If a record is in flight, finish does that instead.
func (f *DeltaFIFO[T]) wakeLocked() {
	if f.inFlight == nil {
		f.ready.Signal()
	}
}

func (f *DeltaFIFO[T]) checkSyncedLocked() {
	if f.populated && f.initialLeft == 0 && f.setSynced() {
		f.trace.Synced()
	}
}

// Close does not block. It also refuses requeues.
func (f *DeltaFIFO[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	f.ready.Broadcast()
	f.trace.Closed(f.waiting.len())
}

func (f *DeltaFIFO[T]) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting.len()
}

// Snapshot returns the present state. It holds the lock for about ten milliseconds per 100,000
// keys.
func (f *DeltaFIFO[T]) Snapshot() deltafifo.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := make([]deltafifo.KeySnapshot, 0, f.waiting.len())
	s := deltafifo.Snapshot{Waiting: waiting, InitialLeft: f.initialLeft, Synced: f.HasSynced(), Closed: f.closed}
	for r := range f.waiting.all() {
		s.Waiting = append(s.Waiting, r.snapshot())
	}
	if f.inFlight != nil {
		k := f.inFlight.snapshot()
		s.InFlight = &k
	}
	return s
}
