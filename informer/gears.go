package informer

import (
	"context"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer/reflector"
)

// Gears are the constructors of the parts of an informer. A nil field, and so the zero value, takes the textbook form.
// The fast forms are those of [orrery/informer/fast.Gears].
type Gears[T any] struct {
	NewQueue     func(deltafifo.Config[T]) Queue[T]
	NewStore     func(indexer.Config[T]) Indexer[T]
	NewReflector func(reflector.Config[T]) Reflector
	NewProcessor func() Processor[T]
}

// defaultGears returns g with the textbook form of every part that g does not choose.
func defaultGears[T any](g Gears[T]) Gears[T] {
	if g.NewQueue == nil {
		g.NewQueue = func(cfg deltafifo.Config[T]) Queue[T] { return deltafifo.New(cfg) }
	}
	if g.NewStore == nil {
		g.NewStore = func(cfg indexer.Config[T]) Indexer[T] { return indexer.New(cfg) }
	}
	if g.NewReflector == nil {
		g.NewReflector = func(cfg reflector.Config[T]) Reflector { return reflector.New(cfg) }
	}
	if g.NewProcessor == nil {
		g.NewProcessor = func() Processor[T] { return newSharedProcessor[T]() }
	}
	return g
}

// Queue is what an informer needs of its queue, see package deltafifo. The reflector puts events in, the informer's
// loop takes them out.
//
// A queue with the method PopBatch(limit int, process) (keys int, err error) is asked for several keys at a time. Len and
// Snapshot, if there are any, are shown by [SharedIndexInformer.Snapshot] and [SharedIndexInformer.QueueSnapshot].
type Queue[T any] interface {
	reflector.Store[T]
	Pop(process func(key string, deltas deltafifo.Deltas[T], isInInitialList bool) error) (deltafifo.Deltas[T], error)
	// Synced returns a channel that is closed when the first list has been popped.
	Synced() <-chan struct{}
	Close()
}

// Indexer is the store of an informer, see package indexer.
//
// A store with the method KnownKey(key []byte) (string, bool) spares the informer a new string for each event.
type Indexer[T any] = indexer.Interface[T]

// ListerWatcher is where the objects come from. *restclient.Resource[T] is one.
type ListerWatcher[T any] = reflector.ListerWatcher[T]

// Reflector makes a queue look like a collection on a server, see package reflector. A Snapshot() reflector.Snapshot is
// shown by [SharedIndexInformer.Snapshot].
type Reflector interface {
	// Run reflects until ctx ends. It is called once.
	Run(ctx context.Context)
	LastSyncResourceVersion() string
}

// Processor brings every event to every handler.
//
// The informer holds a lock of its own during AddListener and Distribute, so that the store and the events change
// together: a handler's initial content holds exactly what was distributed before it was added. A processor calls
// handlers on goroutines of its own, and no hooks.
//
// A processor with the method Flush may keep what was distributed until Flush is called, which is when the queue has run
// empty, and after 64 keys at the latest. No lock is held then.
type Processor[T any] interface {
	// AddListener makes h hear the initial notifications and then everything that is distributed from now on. It is not
	// called after Run has been told to end.
	AddListener(h *RegisteredHandler[T], initial []Notification[T])
	// RemoveListener makes h hear nothing more than what was distributed before the call. It does not wait for h.
	// [RegisteredHandler.End] is called when the last callback has returned.
	RemoveListener(h *RegisteredHandler[T])
	// Distribute brings n to all listeners, or, if n is a Sync, to those whose resync is due. It returns their number. It
	// must not wait for a handler.
	Distribute(n Notification[T]) (listeners int)
	// ShouldResync asks every listener whether its resync is due and returns how many are. Those hear Sync notifications
	// until the next call.
	ShouldResync(now time.Time) (due int)
	// Run calls the handlers until ctx ends, and returns when the last callback has returned. What waits then is
	// delivered: the informer has stopped the handlers before, and a stopped handler drops it.
	Run(ctx context.Context)
}

// flusher is a [Processor] that distributes in batches.
type flusher interface{ Flush() }

// batchPopper is a [Queue] that hands out several keys at a time.
type batchPopper[T any] interface {
	PopBatch(limit int, process func(key string, deltas deltafifo.Deltas[T], isInInitialList bool) error) (keys int, err error)
}
