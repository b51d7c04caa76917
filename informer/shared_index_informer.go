package informer

import (
	"context"
	"sync"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/indexer/fast"
)

// SharedIndexInformer keeps a local copy of a collection on an API server and tells any number of handlers what
// changes in it. One informer, with one list and one watch, is shared by all who are interested in the collection;
// a [SharedInformerFactory] sees to that.
//
//	server -> Reflector -> DeltaFIFO -> HandleDeltas -> Indexer
//	                                         |
//	                                         +-> processor -> listener -> handler
//	                                                       -> listener -> handler
//
// All methods may be called from any goroutine, callbacks of handlers included.
type SharedIndexInformer[T Object] struct {
	config   Config[T]
	source   ListerWatcher[T]
	store    indexer.Interface[T]
	detector *mutationDetector[T] // nil if it is off
	synced   chan struct{}        // closed when the first list is in the store
	ended    chan struct{}        // closed when Run has ended

	processor *processor[T]
	failures  *failures

	// blockDeltas makes the store and the stream of events change together: a handler that joins under it finds
	// in the store exactly what came before its first event. It comes before processor.mu.
	blockDeltas sync.Mutex

	mu                sync.Mutex // guards what follows
	state             State
	transform         TransformFunc[T]
	watchErrorHandler func(ctx context.Context, err error)
	controller        *controller[T] // nil before Run
}

// State is the part of its life that an informer is in.
type State uint8

// An informer goes through these once and in this order.
const (
	StateNew State = iota
	StateRunning
	StateStopped
)

// String returns the name of the state.
func (s State) String() string { return [...]string{"new", "running", "stopped"}[s] }

// NewSharedIndexInformer returns an informer for what lw lists and watches. It starts nothing: see Run.
//
// Config.Indexers must not contain two meanings for one name; a map cannot.
func NewSharedIndexInformer[T Object](lw ListerWatcher[T], cfg Config[T]) *SharedIndexInformer[T] {
	cfg = cfg.withDefaults()
	s := &SharedIndexInformer[T]{
		config: cfg,
		source: lw,
		store: fast.New(indexer.Config[T]{
			KeyFunc:  MetaNamespaceKeyFunc[T],
			Indexers: cfg.Indexers,
			Trace:    cfg.StoreTrace,
		}),
		synced:            make(chan struct{}),
		ended:             make(chan struct{}),
		processor:         newProcessor[T](cfg.Name, cfg.ResyncPeriod, cfg.Trace),
		failures:          newFailures(),
		transform:         cfg.Transform,
		watchErrorHandler: cfg.WatchErrorHandler,
	}
	if cfg.MutationDetector.Enabled {
		s.detector = newMutationDetector(cfg.Name, cfg.Trace, cfg.MutationDetector)
	}
	return s
}

// HasSynced reports whether the first list has arrived in the store. Handlers may not have been told of all of it
// yet: that is what [Registration.HasSynced] says.
func (s *SharedIndexInformer[T]) HasSynced() bool { return isClosed(s.synced) }

// Synced returns a channel that is closed when [SharedIndexInformer.HasSynced] becomes true. It stays open if the
// informer stops before.
func (s *SharedIndexInformer[T]) Synced() <-chan struct{} { return s.synced }

// IsStopped reports whether the informer has stopped taking events, which is for good.
func (s *SharedIndexInformer[T]) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == StateStopped
}

// Name returns Config.Name.
func (s *SharedIndexInformer[T]) Name() string { return s.config.Name }

// GetIndexer returns the store. It is filled by the informer: read it, do not write it, and do not change the
// objects in it.
func (s *SharedIndexInformer[T]) GetIndexer() indexer.Interface[T] { return s.store }

// AddIndexers adds indexes to the store. It is possible at any time before the informer stops; objects that are
// there already are indexed.
func (s *SharedIndexInformer[T]) AddIndexers(indexers indexer.Indexers[T]) error {
	if s.IsStopped() {
		return ErrStopped
	}
	return s.store.AddIndexers(indexers)
}

// SetTransform replaces Config.Transform. After Run it returns [ErrStarted].
func (s *SharedIndexInformer[T]) SetTransform(transform TransformFunc[T]) error {
	return s.beforeStart(func() { s.transform = transform })
}

// SetWatchErrorHandler replaces Config.WatchErrorHandler. After Run it returns [ErrStarted].
func (s *SharedIndexInformer[T]) SetWatchErrorHandler(handler func(ctx context.Context, err error)) error {
	return s.beforeStart(func() { s.watchErrorHandler = handler })
}

func (s *SharedIndexInformer[T]) beforeStart(set func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != StateNew {
		return ErrStarted
	}
	set()
	return nil
}

// LastSyncResourceVersion returns the version of the collection that the informer has seen last, "" before the
// first list. It is meant for people: versions are compared by the server alone.
func (s *SharedIndexInformer[T]) LastSyncResourceVersion() string {
	if c := s.runningController(); c != nil {
		return c.reflector.Load().LastSyncResourceVersion()
	}
	return ""
}

func (s *SharedIndexInformer[T]) runningController() *controller[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.controller
}

var _ deltafifo.KeyListerGetter[Object] = (indexer.Interface[Object])(nil)
