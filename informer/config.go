package informer

import (
	"context"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer/reflector"
)

// Config configures a [SharedIndexInformer]. The zero value is useful: no resync, no indexes, no transform.
type Config[T Object] struct {
	// Name is shown by traces, snapshots and errors; by convention the resource, such as "namespaces".
	Name string
	// ResyncPeriod is how often handlers are reminded of every object, and how often the informer looks whether
	// one is to be reminded. Zero is never; below one second is raised to one second. A resync asks nothing of
	// the server.
	ResyncPeriod time.Duration
	// Indexers are the indexes of the store. More can be added with AddIndexers.
	Indexers indexer.Indexers[T]
	// Transform changes objects before they are stored. See [TransformFunc].
	Transform TransformFunc[T]
	// WatchErrorHandler is told what goes wrong in the background: the errors of the reflector (see
	// reflector.Config) and a [*ProcessError] for an event that could not be applied. ctx is that of Run. The
	// errors of the reflector are told on its goroutine, which waits, the others on one of their own: two calls may
	// overlap.
	WatchErrorHandler func(ctx context.Context, err error)
	// Delivery chooses how events get to handlers that choose nothing themselves. Default: [Batching].
	Delivery Delivery
	// Capacity is how many events may wait for a handler with [Bounded] delivery that sets no capacity itself. Default:
	// [DefaultCapacity].
	Capacity int
	// MutationDetector searches for code that changes objects of the store.
	MutationDetector MutationDetectorConfig[T]

	// Reflector tunes the reflector: page size, timeouts, back-off, its trace. What the informer decides itself
	// (Name, ListerWatcher, Store, KeyFunc, ResyncPeriod, ShouldResync, WatchErrorHandler) is overwritten.
	Reflector reflector.Config[T]
	// Trace, QueueTrace and StoreTrace show what happens inside. See [Trace].
	Trace      *Trace
	QueueTrace *deltafifo.Trace[T]
	StoreTrace *indexer.Trace
}

func (c Config[T]) withDefaults() Config[T] {
	if c.ResyncPeriod > 0 {
		c.ResyncPeriod = max(c.ResyncPeriod, MinimumResyncPeriod)
	} else {
		c.ResyncPeriod = 0
	}
	if c.Delivery == 0 {
		c.Delivery = Batching
	}
	c.MutationDetector = c.MutationDetector.withDefaults()
	return c
}
