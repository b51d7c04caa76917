package deltafifo

import (
	"errors"
	"slices"
	"sync"
)

// DeltaFIFO is the textbook form: a map, a slice and one lock. Its methods are those of [Interface].
// As in client-go, the lock is held while a process function runs, so the store is up to date when
// it is asked. But producers wait, and process must not call the queue; package fast has neither limit.
type DeltaFIFO[T any] struct {
	SyncFlag     // HasSynced and Synced, which need no lock
	setSynced    func() bool
	config       Config[T] // completed: KnownObjects and every Trace hook are non-nil
	knownObjects KeyListerGetter[T]

	lock chanLock  // guards everything below; no sync.Mutex, because of synctest (config.go)
	cond sync.Cond // broadcast when the queue has grown, and by Close
	// items holds the deltas of each key, queue the keys in order of their first delta: same keys, each once.
	items     map[string]Deltas[T]
	queue     []string
	populated bool // a Replace, Add, Update or Delete came in
	// initialPopulationCount counts the keys of the first Replace that have not been processed: the first
	// ones of queue. As in the article, a key that is put back counts as processed (not so in fast).
	initialPopulationCount int
	closed                 bool
}

// New returns an empty queue. It panics if cfg has no KeyFunc.
func New[T any](cfg Config[T]) *DeltaFIFO[T] {
	cfg = cfg.Complete()
	f := &DeltaFIFO[T]{config: cfg, knownObjects: cfg.KnownObjects, lock: newLock(), items: map[string]Deltas[T]{}}
	f.SyncFlag, f.setSynced = NewSyncFlag()
	f.cond.L = f.lock
	return f
}

// Add, Update and Delete queue one delta. A Delete of a key that neither waits nor is known is ignored.
func (f *DeltaFIFO[T]) Add(obj T) error    { return f.enqueue(Added, obj) }
func (f *DeltaFIFO[T]) Update(obj T) error { return f.enqueue(Updated, obj) }
func (f *DeltaFIFO[T]) Delete(obj T) error { return f.enqueue(Deleted, obj) }

func (f *DeltaFIFO[T]) enqueue(actionType DeltaType, obj T) error {
	key, obj, err := f.config.Admit(obj)
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
	d := Delta[T]{Type: actionType, Object: obj}
	if _, waits := f.items[key]; actionType == Deleted && !waits {
		if _, known := f.knownObjects.GetByKey(key); !known {
			f.config.Trace.Ignored(key, d)
			return nil
		}
	}
	f.queueActionLocked(key, d)
	return nil
}

// queueActionLocked appends d to the deltas of its key. A key that did not wait goes to the end.
func (f *DeltaFIFO[T]) queueActionLocked(key string, d Delta[T]) {
	if _, waits := f.items[key]; !waits {
		f.queue = append(f.queue, key)
	}
	f.items[key] = dedupDeltas(key, append(f.items[key], d), f.config.Trace.Deduplicated)
	f.config.Trace.Queued(key, d, len(f.queue))
	f.cond.Broadcast()
}

// Replace queues list as the whole state. Keys that wait keep their place. The other listed keys follow, then the known
// keys that neither wait nor are listed. Every key that waits or is known but is not listed gets a tombstone.
func (f *DeltaFIFO[T]) Replace(list []T, resourceVersion string) error {
	keys, objects, err := f.config.AdmitAll(list)
	if err != nil {
		return err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.closed {
		return ErrFIFOClosed
	}
	handled, tombstones := make(map[string]bool, len(keys)), 0
	for i, key := range keys {
		handled[key] = true
		f.queueActionLocked(key, Delta[T]{Type: Replaced, Object: objects[i]})
	}
	for _, key := range slices.Concat(f.queue, f.knownObjects.ListKeys()) {
		if newest, waits := f.items[key].Newest(); !handled[key] {
			if !waits { // what waits is newer than what the store holds
				newest.Object, _ = f.knownObjects.GetByKey(key)
			}
			f.queueActionLocked(key, Tombstone(key, newest.Object))
			handled[key] = true
			tombstones++
		}
	}
	if !f.populated {
		f.populated, f.initialPopulationCount = true, len(f.queue)
	}
	f.checkSyncedLocked()
	f.config.Trace.Replaced(resourceVersion, len(list), tombstones, len(f.queue))
	return nil
}

// Resync queues a Sync for each known key. It skips keys that wait: their deltas are newer than the
// store, and a Sync behind them would bring the old state back.
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

// Pop passes the deltas of the key that has waited longest to process and returns them with its error. On an *ErrRequeue,
// unless the queue is closed, Pop puts the deltas back at the end and returns ErrRequeue.Err.
func (f *DeltaFIFO[T]) Pop(process func(key string, d Deltas[T], isInInitialList bool) error) (deltas Deltas[T], err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for len(f.queue) == 0 {
		if f.closed {
			return nil, ErrFIFOClosed
		}
		f.cond.Wait()
	}
	key := f.queue[0]
	f.queue = f.queue[1:]
	deltas = f.items[key]
	delete(f.items, key)
	isInInitialList := f.initialPopulationCount > 0
	f.config.Trace.Popped(key, deltas, isInInitialList, len(f.queue))
	err = ErrUnfinished // what Processed reports if process panics
	defer func() {
		f.config.Trace.Processed(key, deltas, err)
		if requeue, ok := errors.AsType[*ErrRequeue](err); ok && !f.closed {
			// client-go's addIfNotPresent; process ran under the lock, so the key is absent. The caller gets deltas: clone.
			f.queue, f.items[key] = append(f.queue, key), slices.Clone(deltas)
			f.config.Trace.Requeued(key, deltas, len(f.queue))
			f.cond.Broadcast()
			err = requeue.Err
		}
		if isInInitialList {
			f.initialPopulationCount--
		}
		f.checkSyncedLocked()
	}()
	return deltas, process(key, deltas, isInInitialList)
}

func (f *DeltaFIFO[T]) checkSyncedLocked() {
	if f.populated && f.initialPopulationCount == 0 && f.setSynced() {
		f.config.Trace.Synced()
	}
}

// Close refuses new deltas and wakes every blocked Pop. It waits for a process function that runs.
func (f *DeltaFIFO[T]) Close() {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !f.closed {
		f.closed = true
		f.config.Trace.Closed(len(f.queue))
		f.cond.Broadcast()
	}
}

// Snapshot returns the present state. No key is in flight, since it waits for the process function.
func (f *DeltaFIFO[T]) Snapshot() Snapshot {
	f.lock.Lock()
	defer f.lock.Unlock()
	s := Snapshot{Waiting: []KeySnapshot{}, InitialLeft: f.initialPopulationCount, Synced: f.HasSynced(), Closed: f.closed}
	for i, key := range f.queue {
		s.Waiting = append(s.Waiting, KeySnapshot{Key: key, Types: f.items[key].Types(), IsInInitialList: i < f.initialPopulationCount})
	}
	return s
}

// Len returns the number of keys that wait.
func (f *DeltaFIFO[T]) Len() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.queue)
}
