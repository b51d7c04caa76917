package inorder

import (
	"sync"

	"orrery/deltafifo"
)

// RealFIFO is a deltafifo.Interface that hands out one delta at a time, in order of arrival. A
// process function may call all methods but Pop, which waits for it. It lacks accumulation (a busy
// key fills the queue) and requeue; package fast has both.
//
//	Update a, Replace [b c], Delete b   items: Updated a | ReplacedAll [b c] | Deleted b
//	Pop                                 process gets Updated a; the store has a then
//	the list is at the front            items: Deleted a (tombstone) | Replaced b | Replaced c | Deleted b
//
// A list expands at the front and not when it arrives: only then the store shows exactly the state
// before it. Read push first, then expandLocked and Pop.
type RealFIFO[T any] struct {
	deltafifo.SyncFlag // HasSynced and Synced
	setSynced          func() bool
	config             deltafifo.Config[T] // completed: KnownObjects and every Trace hook are non-nil
	hasStore           bool                // if not, every deletion is delivered, and no list infers one

	lock sync.Mutex // guards everything below; it is not held while a process function runs
	cond sync.Cond  // broadcast when a field below has changed
	// items wait, oldest first. Invariant: if nothing is inFlight, Pop can hand out the first one.
	items     []item[T]
	inFlight  *deltafifo.KeySnapshot // the delta that process has now; the store may not show it yet
	populated bool                   // a Replace, Add, Update or Delete came in
	// initialPopulationCount counts the unprocessed items up to the end of the first Replace: the
	// first ones of items, and perhaps the one inFlight.
	initialPopulationCount int
	closed                 bool
}

// New returns a new queue. It panics if cfg has no KeyFunc.
func New[T any](cfg deltafifo.Config[T]) *RealFIFO[T] {
	f := &RealFIFO[T]{hasStore: cfg.KnownObjects != nil, config: cfg.Complete()}
	f.SyncFlag, f.setSynced = deltafifo.NewSyncFlag()
	f.cond.L = &f.lock
	return f
}

// Add, Update and Delete queue one delta.
func (f *RealFIFO[T]) Add(obj T) error    { return f.enqueue(deltafifo.Added, obj) }
func (f *RealFIFO[T]) Update(obj T) error { return f.enqueue(deltafifo.Updated, obj) }
func (f *RealFIFO[T]) Delete(obj T) error { return f.enqueue(deltafifo.Deleted, obj) }

func (f *RealFIFO[T]) enqueue(actionType deltafifo.DeltaType, obj T) error {
	key, d, err := f.config.Admit(actionType, obj)
	if err != nil {
		return err
	}
	return f.push(item[T]{key: key, delta: d, refused: d.Tombstone != nil})
}

// Replace queues list as one item, which becomes tombstones and Replaced deltas at the front.
func (f *RealFIFO[T]) Replace(list []T, resourceVersion string) error {
	keys, deltas, listed := f.config.AdmitAll(list)
	return f.push(replacedAll(keys, deltas, listed, resourceVersion))
}

// Resync queues one item, which becomes a Sync for each object of the store at the front.
func (f *RealFIFO[T]) Resync() error {
	return f.push(item[T]{delta: deltafifo.Delta[T]{Type: SyncAll}})
}

// Bookmark queues a resource version. When it reaches the front, it is passed to
// KnownObjects.Bookmark, if that method exists.
func (f *RealFIFO[T]) Bookmark(resourceVersion string) {
	_ = f.push(item[T]{delta: deltafifo.Delta[T]{Type: Bookmark}, resourceVersion: resourceVersion})
}

// push appends it to items and calls advanceLocked; after Close it returns ErrFIFOClosed. It calls
// the hook Queued for the delta of an object. If a list comes before any Add, Update and Delete,
// the items up to it are the initial population; otherwise there is none.
func (f *RealFIFO[T]) push(it item[T]) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.closed {
		return deltafifo.ErrFIFOClosed
	}
	f.items = append(f.items, it)
	switch it.delta.Type {
	case SyncAll, Bookmark:
	case ReplacedAll:
		if !f.populated {
			f.populated, f.initialPopulationCount = true, len(f.items)
		}
	default:
		f.populated = true
		f.config.Trace.Queued(it.key, it.delta, len(f.items))
	}
	f.advanceLocked()
	return nil
}

// advanceLocked calls expandLocked until the first item can be handed out, unless an item is
// inFlight: the store must show exactly the state before the first item. Once populated and without
// initial items, it makes HasSynced true (hook Synced). Finally it wakes every blocked Pop.
func (f *RealFIFO[T]) advanceLocked() {
	for f.inFlight == nil && len(f.items) > 0 && f.expandLocked(f.items[0]) {
	}
	if f.populated && f.initialPopulationCount == 0 && f.setSynced() {
		f.config.Trace.Synced()
	}
	f.cond.Broadcast()
}

// expandLocked replaces the first item, if it is not a delta that Pop can take:
//   - a list by tombstones and then its objects, with the hook Replaced;
//   - a resync by syncs, with the hook Resynced;
//   - a bookmark by nothing (replaceFront passes it on);
//   - with a store, the deletion of an unknown object by nothing, with the hook Ignored;
//   - a deletion whose object Transform refused by the tombstone of item.go.
//
// It reports whether it changed the front.
func (f *RealFIFO[T]) expandLocked(first item[T]) bool {
	store := f.config.KnownObjects
	switch typ := first.delta.Type; {
	case typ == ReplacedAll:
		vanished := tombstones(store, first.listed)
		f.replaceFrontLocked(first, append(vanished, first.list...))
		f.config.Trace.Replaced(first.resourceVersion, len(first.list), len(vanished), len(f.items))
	case typ == SyncAll:
		known := syncs(store)
		f.replaceFrontLocked(first, known)
		f.config.Trace.Resynced(len(known), 0, len(f.items))
	case typ == Bookmark:
		f.replaceFrontLocked(first, nil)
	case f.hasStore && isUnknownDeletion(store, first):
		f.replaceFrontLocked(first, nil)
		f.config.Trace.Ignored(first.key, first.delta)
	case first.refused:
		f.items[0] = tombstone(store, first.key)
	default:
		return false
	}
	return true
}

// replaceFrontLocked lets replaceFront replace first, the front, by deltas, and calls Queued for
// each of them. If first belongs to the initial population, its deltas take its place there.
func (f *RealFIFO[T]) replaceFrontLocked(first item[T], deltas []item[T]) {
	if f.initialPopulationCount > 0 {
		f.initialPopulationCount += len(deltas) - 1
	}
	f.items = replaceFront(f.config.KnownObjects, first, deltas, f.items[1:])
	for _, d := range deltas {
		f.config.Trace.Queued(d.key, d.delta, len(f.items))
	}
}

// Pop blocks until an item waits and none is inFlight, takes the first one off items (and clears
// its place, for the garbage collector), and passes its delta to process without the lock. Then,
// even if process failed or panicked, the item counts as processed: nothing is inFlight,
// notifyBookmark gets its resource version, and advanceLocked runs. Pop returns the delta and the
// error of process; once the queue is closed and empty, and nothing is inFlight, ErrFIFOClosed.
// Hooks: Popped, Processed (on a panic: ErrUnfinished).
func (f *RealFIFO[T]) Pop(
	process func(key string, d deltafifo.Deltas[T], isInInitialList bool) error,
) (deltas deltafifo.Deltas[T], err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for f.inFlight != nil || len(f.items) == 0 {
		if f.closed && f.inFlight == nil {
			return nil, deltafifo.ErrFIFOClosed
		}
		f.cond.Wait()
	}
	it, isInInitialList := f.items[0], f.initialPopulationCount > 0
	f.items[0] = item[T]{}
	f.items, deltas = f.items[1:], deltafifo.Deltas[T]{it.delta}
	f.inFlight = &deltafifo.KeySnapshot{Key: it.key, Types: deltas.Types(), IsInInitialList: isInInitialList}
	f.config.Trace.Popped(it.key, deltas, isInInitialList, len(f.items))

	err = deltafifo.ErrUnfinished // what Processed reports if process panics
	defer func() {
		f.lock.Lock()
		f.inFlight = nil
		f.config.Trace.Processed(it.key, deltas, err)
		if isInInitialList {
			f.initialPopulationCount--
		}
		notifyBookmark(f.config.KnownObjects, it.resourceVersion)
		f.advanceLocked()
	}()
	f.lock.Unlock()
	return deltas, process(it.key, deltas, isInInitialList)
}

// Close refuses new deltas and wakes every blocked Pop.
func (f *RealFIFO[T]) Close() {
	f.lock.Lock()
	defer f.lock.Unlock()
	if !f.closed {
		f.closed = true
		f.config.Trace.Closed(len(f.items))
		f.cond.Broadcast()
	}
}

// Len returns the number of waiting items. A list that is not yet at the front counts as one.
func (f *RealFIFO[T]) Len() int { f.lock.Lock(); defer f.lock.Unlock(); return len(f.items) }

// Snapshot returns the present state, one entry for each item.
func (f *RealFIFO[T]) Snapshot() deltafifo.Snapshot {
	f.lock.Lock()
	defer f.lock.Unlock()
	return deltafifo.Snapshot{
		Waiting:     snapshots(f.items, f.initialPopulationCount, f.inFlight),
		InFlight:    f.inFlight,
		InitialLeft: f.initialPopulationCount,
		Synced:      f.HasSynced(),
		Closed:      f.closed,
	}
}
