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
	// Name is shown by traces, snapshots and errors; by convention the resource, such as
	// "namespaces".
	Name string
	// Gears chooses the forms of queue, store, reflector and processor. Default: the textbook
	// forms.
	Gears Gears[T]
	// TweakListOptions, if not nil, changes the options of every list and watch request, typically
	// the selectors; see [SelectLabels] and [SelectFields]. The informer sees only the selected
	// objects; an object that is no longer selected is reported as a deletion.
	TweakListOptions func(*api.ListOptions)
	// ResyncPeriod is the default resync period of handlers, and how often the informer checks
	// whether a resync is due. Zero means never; a period below one second is raised to one second.
	// A resync sends no request.
	ResyncPeriod time.Duration
	// Indexers are the indexes of the store. More can be added with AddIndexers.
	Indexers indexer.Indexers[T]
	// Transform changes objects before they are stored. See [TransformFunc].
	Transform TransformFunc[T]
	// WatchErrorHandler is called with background errors: those of the reflector (see
	// reflector.Config) and a [*ProcessError] for an event that could not be applied. ctx is that
	// of Run. Errors of the reflector are reported on its goroutine, which waits, the others on a
	// separate one: two calls may overlap.
	WatchErrorHandler func(ctx context.Context, err error)
	// MutationDetector detects code that changes objects of the store.
	MutationDetector MutationDetectorConfig[T]

	// WrapHandler, if not nil, returns what is registered in place of a handler: one that calls h.
	WrapHandler func(h ResourceEventHandler[T]) ResourceEventHandler[T]

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
		c.ResyncPeriod = max(c.ResyncPeriod, MinimumResyncPeriod)
	} else {
		c.ResyncPeriod = 0
	}
	c.MutationDetector = c.MutationDetector.withDefaults()
	if c.Trace == nil {
		c.Trace = &Trace{}
	}
	return c
}

// SelectLabels returns a TweakListOptions with a label selector, in the syntax of kubectl's
// --selector.
func SelectLabels(selector string) func(*api.ListOptions) {
	return func(opts *api.ListOptions) { opts.LabelSelector = selector }
}

// SelectFields returns a TweakListOptions with a field selector, in the syntax of kubectl's
// --field-selector.
func SelectFields(selector string) func(*api.ListOptions) {
	return func(opts *api.ListOptions) { opts.FieldSelector = selector }
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

// IsWatchListSemanticsUnSupported asks the wrapped ListerWatcher, see reflector.ListerWatcher.
func (t tweaked[T]) IsWatchListSemanticsUnSupported() bool {
	refuser, ok := t.ListerWatcher.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && refuser.IsWatchListSemanticsUnSupported()
}

// HasKeepalive asks the wrapped ListerWatcher, see reflector.ListerWatcher.
func (t tweaked[T]) HasKeepalive() bool {
	prover, ok := t.ListerWatcher.(interface{ HasKeepalive() bool })
	return !ok || prover.HasKeepalive()
}
