package deltafifo

import (
	"errors"
	"slices"
	"sync"
)

// DeltaFIFO is the textbook form: a map, a slice and one lock.
//
//	Add a, Update a, Add b        queue [a b]   items a: Added, Updated   b: Added
//	Pop                           process gets a with both deltas; queue [b]
//	Replace [a c]                 queue [b a c] items b: Added, Deleted (a tombstone)   a, c: Replaced
//
// As in client-go, a process function runs with the lock held, so the store is up to date when the
// queue reads it. But producers wait, and process must not call the queue, not even Close; package
// fast has neither limit. Hooks are called with the lock held. Read queueActionLocked first, then
// Pop and Replace.
type DeltaFIFO[T any] struct {
	SyncFlag     // HasSynced and Synced, which need no lock
	setSynced    func() bool
	config       Config[T] // completed: KnownObjects and every Trace hook are non-nil
	knownObjects KeyListerGetter[T]
	lock         chanLock  // guards everything below; no sync.Mutex, because of synctest (config.go)
	cond         sync.Cond // broadcast when the queue has grown, and by Close
	// items has the deltas of each key; queue has these keys in order of their first delta.
	items                  map[string]Deltas[T]
	queue                  []string
	populated              bool // a Replace, Add, Update or Delete came in
	initialPopulationCount int  // unprocessed keys of the first Replace: the first ones of queue
	closed                 bool
}

// New returns a new queue. It panics if cfg has no KeyFunc.
func New[T any](cfg Config[T]) *DeltaFIFO[T] {
	cfg = cfg.Complete()
	f := &DeltaFIFO[T]{
		config: cfg, knownObjects: cfg.KnownObjects, lock: newLock(), items: map[string]Deltas[T]{},
	}
	f.SyncFlag, f.setSynced = NewSyncFlag()
	f.cond.L = f.lock
	return f
}

// Add, Update and Delete queue one delta. A Delete of an unknown key that does not wait is ignored.
func (f *DeltaFIFO[T]) Add(obj T) error    { return f.enqueue(Added, obj) }
func (f *DeltaFIFO[T]) Update(obj T) error { return f.enqueue(Updated, obj) }
func (f *DeltaFIFO[T]) Delete(obj T) error { return f.enqueue(Deleted, obj) }

func (f *DeltaFIFO[T]) enqueue(actionType DeltaType, obj T) error {
	key, d, err := f.config.Admit(actionType, obj)
	if err != nil {
		return err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.closed {
		return ErrFIFOClosed
	}
	f.populated = true
	f.checkSyncedLocked()
	if actionType == Deleted {
		lastSeen, exists := f.lastSeenLocked(key)
		if !exists {
			f.config.Trace.Ignored(key, d)
			return nil
		}
		if d.Tombstone != nil { // Transform refused the object
			d = Tombstone(key, lastSeen)
		}
	}
	f.queueActionLocked(key, d)
	return nil
}

// lastSeenLocked returns the object of the key's newest waiting delta or, without one, that of
// knownObjects, which is older. exists is false if there is neither.
func (f *DeltaFIFO[T]) lastSeenLocked(key string) (obj T, exists bool) {
	if newest, waits := f.items[key].Newest(); waits {
		return newest.Object, true
	}
	return f.knownObjects.GetByKey(key)
}

// queueActionLocked appends d to the deltas of key, oldest first, and lets dedupDeltas look at the
// result. A waiting key keeps its place in queue; any other key goes to the end. Then it calls the
// hook Queued with the length of queue, and wakes every blocked Pop. The caller holds the lock.
func (f *DeltaFIFO[T]) queueActionLocked(key string, d Delta[T]) {
	if _, waits := f.items[key]; !waits {
		f.queue = append(f.queue, key)
	}
	f.items[key] = dedupDeltas(key, append(f.items[key], d), f.config.Trace.Deduplicated)
	f.config.Trace.Queued(key, d, len(f.queue))
	f.cond.Broadcast()
}

// dedupDeltas returns d, the deltas of key, with the last two merged into one if both are
// deletions; then it also calls hook. It keeps the older one unless that is a tombstone: a deletion
// that a watch reported carries the true last state. Nothing else is merged, because a handler may
// need each step.
func dedupDeltas[T any](key string, d Deltas[T], hook func(key string, kept, dropped Delta[T])) Deltas[T] {
	n := len(d)
	if n < 2 || d[n-1].Type != Deleted || d[n-2].Type != Deleted {
		return d
	}
	kept, dropped := d[n-2], d[n-1]
	if kept.Tombstone != nil {
		kept, dropped = dropped, kept
	}
	hook(key, kept, dropped)
	return append(d[:n-2], kept)
}

// Replace queues list as the complete state: each delta of AdmitAll, in list order. Then every key
// that is not listed gets a Tombstone, the waiting keys first, then those of
// knownObjects, each once. Its object is that of lastSeenLocked. If nothing came in before, all
// keys that wait now are the initial population. At the end Replace calls checkSyncedLocked and the
// hook Replaced. After Close it returns ErrFIFOClosed.
func (f *DeltaFIFO[T]) Replace(list []T, resourceVersion string) error {
	keys, replaced, handled := f.config.AdmitAll(list)
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.closed {
		return ErrFIFOClosed
	}
	for i, key := range keys {
		f.queueActionLocked(key, replaced[i])
	}
	tombstones := 0
	for _, key := range slices.Concat(f.queue, f.knownObjects.ListKeys()) {
		if !handled[key] {
			lastSeen, _ := f.lastSeenLocked(key)
			f.queueActionLocked(key, Tombstone(key, lastSeen))
			handled[key] = true
			tombstones++
		}
	}
	if !f.populated {
		f.populated, f.initialPopulationCount = true, len(f.queue)
	}
	f.checkSyncedLocked()
	f.config.Trace.Replaced(resourceVersion, len(keys), tombstones, len(f.queue))
	return nil
}

// Resync queues a Sync for each known object and calls the hook Resynced. It skips waiting keys,
// whose deltas are newer than the store: a Sync after them would restore the old state. It also
// skips a key that knownObjects lists but cannot find. After Close it returns ErrFIFOClosed.
func (f *DeltaFIFO[T]) Resync() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.closed {
		return ErrFIFOClosed
	}
	keys, queued := f.knownObjects.ListKeys(), 0
	for _, key := range keys {
		obj, exists := f.knownObjects.GetByKey(key)
		if _, waits := f.items[key]; exists && !waits {
			f.queueActionLocked(key, Delta[T]{Type: Sync, Object: obj})
			queued++
		}
	}
	f.config.Trace.Resynced(queued, len(keys)-queued, len(f.queue))
	return nil
}

// Pop blocks until a key waits, takes the first one off queue with its deltas, passes them to
// process with the lock held, and returns them with the error:
//   - isInInitialList reports whether initialPopulationCount is above 0.
//   - Closed and empty, Pop returns ErrFIFOClosed.
//   - After process, even if it panicked, the key counts as processed: checkSyncedLocked.
//   - On an *ErrRequeue, wrapped or not, unless the queue is closed, the key goes to the end of
//     queue with a copy of its deltas (the caller owns the original), every blocked Pop wakes, and
//     Pop returns ErrRequeue.Err. It counts as processed all the same.
//   - Hooks: Popped; after process Processed (ErrUnfinished after a panic), then Requeued, and only
//     then checkSyncedLocked.
func (f *DeltaFIFO[T]) Pop(
	process func(key string, d Deltas[T], isInInitialList bool) error,
) (deltas Deltas[T], err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for len(f.queue) == 0 {
		if f.closed {
			return nil, ErrFIFOClosed
		}
		f.cond.Wait()
	}
	key, isInInitialList := f.queue[0], f.initialPopulationCount > 0
	f.queue, deltas = f.queue[1:], f.items[key]
	delete(f.items, key)
	f.config.Trace.Popped(key, deltas, isInInitialList, len(f.queue))
	err = ErrUnfinished // what Processed reports if process panics
	defer func() {
		f.config.Trace.Processed(key, deltas, err)
		if requeue, ok := errors.AsType[*ErrRequeue](err); ok && !f.closed {
			f.queue, f.items[key] = append(f.queue, key), slices.Clone(deltas)
			f.config.Trace.Requeued(key, deltas, len(f.queue))
			f.cond.Broadcast()
			err = requeue.Err
		}
		f.initialPopulationCount = max(f.initialPopulationCount-1, 0)
		f.checkSyncedLocked()
	}()
	return deltas, process(key, deltas, isInInitialList)
}

// checkSyncedLocked makes HasSynced true, once, when a first change has come in and no key of a
// first list is unprocessed. Without a list, the first Add does.
func (f *DeltaFIFO[T]) checkSyncedLocked() {
	if f.populated && f.initialPopulationCount == 0 && f.setSynced() {
		f.config.Trace.Synced()
	}
}

// Close refuses new deltas and wakes every blocked Pop. It waits for a running process function.
func (f *DeltaFIFO[T]) Close() {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !f.closed {
		f.closed = true
		f.config.Trace.Closed(len(f.queue))
		f.cond.Broadcast()
	}
}

// Snapshot returns the present state. It waits for the process function, so no key is in flight.
func (f *DeltaFIFO[T]) Snapshot() Snapshot {
	f.lock.Lock()
	defer f.lock.Unlock()
	s := Snapshot{
		Waiting:     []KeySnapshot{},
		InitialLeft: f.initialPopulationCount,
		Synced:      f.HasSynced(),
		Closed:      f.closed,
	}
	for i, key := range f.queue {
		initial := i < f.initialPopulationCount
		waiting := KeySnapshot{Key: key, Types: f.items[key].Types(), IsInInitialList: initial}
		s.Waiting = append(s.Waiting, waiting)
	}
	return s
}

// Len returns the number of waiting keys.
func (f *DeltaFIFO[T]) Len() int { f.lock.Lock(); defer f.lock.Unlock(); return len(f.queue) }
