package deltafifo

import "orrery/internal/hooks"

// Interface is the queue between an informer's reflector and its store. Every form implements it:
// this package's [DeltaFIFO], fast.DeltaFIFO and inorder.RealFIFO.
//
// Any goroutine may call any method. Only Pop waits for deltas. The process function of a Pop must
// not call the queue unless the form allows it: the textbook form holds its lock meanwhile.
//
// # Guarantees
//
//   - The deltas of a key are handed out in order of arrival. A DeltaFIFO orders keys by their
//     first waiting delta; there is no order between the deltas of different keys.
//   - Every delta is handed out, except one of two adjacent deletions (the one that a watch
//     reported is kept), a deletion of an object that the consumer does not hold, and a Sync for a
//     key with newer deltas.
//   - Only one process function runs, so it may write without a lock against itself.
//   - HasSynced turns true when everything that the first list queued has been processed.
//   - The queue hands out the pointers that it was given, and a tombstone may share its object with
//     the store: neither objects nor Deltas must be changed after they were queued.
//
// # Goroutines
//
// A queue starts none, and any goroutine may call it. Close ends a loop around Pop, which hands out
// the rest and then returns [ErrFIFOClosed]. KeyFunc and Transform run in the caller's goroutine
// without a lock; hooks and most calls of KnownObjects run under the lock.
//
// # Failure
//
// An object without a key, or one that Transform refuses, is not queued, and its key keeps its
// state: a list that holds it does not imply its deletion. Config.Refused gets a [KeyError] or a
// [TransformError], and so does the caller of Add, Update or Delete. A deletion needs only its key:
// if Transform refuses its object, it is queued as a tombstone.
//
// Pop returns the error of process with the deltas, which count as processed unless the error is an
// [ErrRequeue]. If process panics, its deltas count as processed; the panic continues to the
// caller, and the queue stays usable and becomes synced.
type Interface[T any] interface {
	// Add, Update and Delete queue an event of a watch. They return a *KeyError, a *TransformError
	// or ErrFIFOClosed if they queued nothing. A Delete of an object that is neither waiting nor
	// known is ignored. A Delete whose object Transform refuses is queued all the same, as a
	// tombstone.
	Add(obj T) error
	Update(obj T) error
	Delete(obj T) error
	// Replace queues items as the complete state at resourceVersion: a Replaced delta for each
	// item, and a tombstone for every other key that is waiting or known. It skips an item without
	// a key, or that Transform refuses, whose key keeps its state. It returns no error but
	// ErrFIFOClosed. The queue owns the slice afterwards.
	Replace(items []T, resourceVersion string) error
	// Resync queues a Sync delta for each known object, so that handlers see the present state
	// again.
	Resync() error

	// Pop blocks until deltas wait, passes the oldest to process and returns them with its error.
	// When process returns, KnownObjects must show the effect. One process function runs at a time.
	// isInInitialList reports whether the deltas belong to the first list. Once the queue is closed
	// and empty, and no process function runs, Pop returns nil and ErrFIFOClosed.
	Pop(process func(key string, d Deltas[T], isInInitialList bool) error) (Deltas[T], error)

	// HasSynced reports whether everything that the first Replace queued has been processed. If an
	// Add, Update or Delete came first, there was no first list, and it is true from then on.
	HasSynced() bool
	// Synced returns a channel that is closed when HasSynced becomes true.
	Synced() <-chan struct{}

	// Len returns the number of waiting entries, without those being processed. If it is not 0, a
	// Pop of the only consumer does not block.
	Len() int
	// Snapshot returns the present state, for people and tests.
	Snapshot() Snapshot

	// Close refuses new deltas and wakes every blocked Pop. Waiting deltas are still handed out. A
	// second call does nothing.
	Close()
}

// KeyListerGetter is the queue's view of the consumer's store. An indexer.Indexer implements it.
//
// When a process function returns, the store must show its effect. Both methods must be safe for
// concurrent use and must not call the queue, which may hold its lock.
type KeyListerGetter[T any] interface {
	// ListKeys returns the keys of all objects, in any order.
	ListKeys() []string
	// GetByKey returns the object with this key, and whether there is one.
	GetByKey(key string) (obj T, exists bool)
}

// Trace is a set of hooks in the manner of net/http/httptrace. Each field may be nil.
//
// The queue calls hooks with its lock held, so the order of calls is the order of events. A hook
// must be quick and must not call the queue. It may keep Deltas but not change them.
//
// depth is what Len would return right after the reported call. Within a Replace or a Resync a form
// may count the deltas of that call one by one.
type Trace[T any] struct {
	// Queued: the delta was queued. Replace and Resync report each delta, then themselves.
	Queued func(key string, d Delta[T], depth int)
	// Deduplicated: of two adjacent deletions, kept still waits and dropped does not.
	Deduplicated func(key string, kept, dropped Delta[T])
	// Ignored: the deletion was not queued, because the consumer does not hold the object.
	Ignored func(key string, d Delta[T])
	// Canceled: the oldest delta that waited for the key, a deletion, was removed from the queue.
	// It was queued while the key was being processed, and the consumer does not hold the object.
	Canceled func(key string, d Delta[T])

	// Replaced: a list with this many items, without the refused ones, and tombstones was queued.
	Replaced func(resourceVersion string, items, tombstones, depth int)
	// Resynced: this many keys got a Sync. The skipped ones have newer deltas waiting, or the store
	// listed them and could not find them.
	Resynced func(queued, skipped, depth int)

	// Popped: the deltas are about to be processed.
	Popped func(key string, d Deltas[T], isInInitialList bool, depth int)
	// Processed: the process function returned err. If it panicked, err is ErrUnfinished.
	Processed func(key string, d Deltas[T], err error)
	// Requeued: the deltas were put back. d has all deltas that wait for the key now.
	Requeued func(key string, d Deltas[T], depth int)

	// Synced: HasSynced has become true.
	Synced func()
	// Closed: Close was called for the first time.
	Closed func(depth int)
}

// complete returns t with a no-op in place of each missing hook. t may be nil.
func (t *Trace[T]) complete() *Trace[T] {
	c := t.CompleteRare()
	hooks.Default(&c.Queued, func(string, Delta[T], int) {})
	hooks.Default(&c.Popped, func(string, Deltas[T], bool, int) {})
	hooks.Default(&c.Processed, func(string, Deltas[T], error) {})
	return c
}

// CompleteRare returns t with a no-op in place of each missing hook but Queued, Popped and
// Processed, which are called for each delta. t may be nil.
func (t *Trace[T]) CompleteRare() *Trace[T] {
	return hooks.Complete(t, "Queued", "Popped", "Processed")
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil; the result is nil if all are, and the argument itself if only one is not.
func JoinTraces[T any](traces ...*Trace[T]) *Trace[T] {
	return hooks.Join(traces...)
}

// Snapshot is the state of a queue at one moment. It shares no memory with the queue.
type Snapshot struct {
	Waiting     []KeySnapshot // in the order in which Pop hands them out
	InFlight    *KeySnapshot  // the entry that a process function is working on, nil if none runs
	InitialLeft int           // entries of the initial population that have not been processed
	Synced      bool
	Closed      bool
}

// KeySnapshot is one key and the types of its deltas, oldest first.
type KeySnapshot struct {
	Key             string
	Types           []DeltaType
	IsInInitialList bool
}
