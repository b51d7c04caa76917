package informer

import (
	"context"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// Config configures a [SharedIndexInformer]. The zero value is useful: textbook gears, no resync,
// no indexes, no transform.
type Config[T Object] struct {
	Name  string   // in traces, snapshots and errors; by convention the resource, such as "namespaces"
	Gears Gears[T] // the forms of queue, store, reflector and processor; default the textbook forms
	// TweakListOptions, if not nil, changes the options of every list and watch request, typically
	// the selectors. The informer sees only the selected objects; an object that is no longer
	// selected is reported as a deletion.
	TweakListOptions func(*api.ListOptions)
	// ResyncPeriod is the default resync period of handlers, and how often the informer checks
	// whether a resync is due. Zero means never; a period below one second is raised to one second.
	// A resync sends no request.
	ResyncPeriod time.Duration
	Indexers     indexer.Indexers[T] // of the store; AddIndexers adds more
	Transform    TransformFunc[T]    // changes objects before they are stored
	// WatchErrorHandler is called with background errors: those of the reflector (see
	// reflector.Config) and a [*ProcessError] for an event that could not be applied. ctx is that
	// of Run. Errors of the reflector are reported on its goroutine, which waits, the others on a
	// separate one: two calls may overlap.
	WatchErrorHandler func(ctx context.Context, err error)
	MutationDetector  MutationDetectorConfig // detects code that changes objects of the store
	// WrapHandler, if not nil, returns what is registered in place of the named h: one that calls it.
	WrapHandler func(name string, h ResourceEventHandler[T]) ResourceEventHandler[T]

	// Reflector tunes the reflector: page size, timeouts, back-off, its trace. The informer
	// overwrites Name, ListerWatcher, Store, KeyFunc, ResyncPeriod, ShouldResync and
	// WatchErrorHandler.
	Reflector reflector.Config[T]
	// Trace, QueueTrace and StoreTrace observe the informer and its parts. See [Trace].
	Trace      *Trace
	QueueTrace *deltafifo.Trace[T]
	StoreTrace *indexer.Trace
}

func (c Config[T]) withDefaults() Config[T] {
	c.Gears = c.Gears.WithDefaults()
	if c.ResyncPeriod > 0 {
		c.ResyncPeriod = max(c.ResyncPeriod, minimumResyncPeriod)
	} else {
		c.ResyncPeriod = 0
	}
	c.MutationDetector = c.MutationDetector.withDefaults()
	if c.Trace == nil {
		c.Trace = &Trace{}
	}
	return c
}

// tweaked is a ListerWatcher that changes the options of its requests.
type tweaked[T any] struct {
	ListerWatcher[T]
	tweak func(*api.ListOptions)
}

func (t tweaked[T]) List(ctx context.Context, opts api.ListOptions) (*api.List[T], error) {
	t.tweak(&opts)
	return t.ListerWatcher.List(ctx, opts)
}

func (t tweaked[T]) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error) {
	t.tweak(&opts)
	return t.ListerWatcher.Watch(ctx, opts)
}

// This and HasKeepalive are optional methods of a ListerWatcher; tweaked has those of the wrapped
// one.
func (t tweaked[T]) IsWatchListSemanticsUnSupported() bool {
	refuser, ok := t.ListerWatcher.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && refuser.IsWatchListSemanticsUnSupported()
}

func (t tweaked[T]) HasKeepalive() bool {
	prover, ok := t.ListerWatcher.(interface{ HasKeepalive() bool })
	return !ok || prover.HasKeepalive()
}

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
