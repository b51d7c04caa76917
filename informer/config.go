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
