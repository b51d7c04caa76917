package informer

import (
	"context"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer/reflector"
)

// Gears are the constructors of the parts of an informer. A nil field means the textbook form. The
// fast forms are those of [orrery/informer/fast.Gears].
type Gears[T any] struct {
	NewQueue     func(deltafifo.Config[T]) Queue[T]
	NewStore     func(indexer.Config[T]) Indexer[T]
	NewReflector func(reflector.Config[T]) Reflector
	NewProcessor func() Processor[T]
}

// WithDefaults returns g with the textbook form of every part that g does not choose.
func (g Gears[T]) WithDefaults() Gears[T] {
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

// Queue is an informer's queue, see package deltafifo. The reflector puts events in, the informer's
// loop takes them out.
//
// A queue may have a method PopBatch(limit int, process) (keys int, err error), which pops several
// keys at a time.
type Queue[T any] = deltafifo.Interface[T]

// Indexer is the store of an informer, see package indexer.
//
// A store may have a method KnownKey(namespace, name string) (key string, ok bool), which saves a
// new string for each event.
type Indexer[T any] = indexer.Interface[T]

// ListerWatcher is the source of the objects. *restclient.Resource[T] is one.
type ListerWatcher[T any] = reflector.ListerWatcher[T]

// Reflector keeps a queue in step with a collection on a server, see package reflector.
type Reflector interface {
	// Run reflects until ctx ends. After a panic it is called again, and lists at the last version.
	Run(ctx context.Context)
	LastSyncResourceVersion() string
	Snapshot() reflector.Snapshot
}

// Processor distributes every event to every handler.
//
// The informer holds a lock during AddListener and Distribute, so that the store and the events
// change together: a handler's initial content is exactly the effect of what was distributed before
// it was added. A processor calls handlers on goroutines of its own, and calls no hooks
// itself.
type Processor[T any] interface {
	// AddListener adds h, which receives the initial notifications and then every later one. It is
	// not called after Run's ctx has ended.
	AddListener(h *RegisteredHandler[T], initial []Notification[T])
	// RemoveListener removes h, which was stopped before: it drops what it still receives. It does
	// not wait for h. [RegisteredHandler.End] is called when the last callback has returned.
	RemoveListener(h *RegisteredHandler[T])
	// Distribute sends n to all listeners, or, if n is a Sync, to those whose resync is due, and
	// returns their number. It must not wait for a handler.
	Distribute(n Notification[T]) (listeners int)
	// Flush sends what Distribute has held back, to send it in batches. The informer calls it
	// without a lock when the queue is empty, and at the latest after 64 keys.
	Flush()
	// ShouldResync returns how many listeners are due for a resync. Those receive Sync
	// notifications until the next call.
	ShouldResync(now time.Time) (due int)
	// Run calls the handlers until ctx ends, and returns when the last callback has returned. It
	// delivers the backlog: the informer has stopped the handlers before, and a stopped handler
	// drops its events.
	Run(ctx context.Context)
}

// batchPopper is a [Queue] that pops several keys at a time.
type batchPopper[T any] interface {
	PopBatch(limit int, process func(key string, deltas deltafifo.Deltas[T], isInInitialList bool) error) (keys int,
		err error)
}
