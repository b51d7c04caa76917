package informer

import (
	"context"
	"sync"
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/wait"
)

// SharedIndexInformer keeps a local copy of a collection on an API server and notifies any number
// of handlers of its changes. All handlers of the collection share one list and one watch; see
// [SharedInformerFactory]. The picture is in the package documentation.
//
// All methods may be called from any goroutine, callbacks of handlers included.
//
// # Guarantees
//
// Order. A handler receives the events of an object in order, one at a time. There is no order
// between handlers, nor between objects: while the informer is behind, an object keeps its place in
// the queue and accumulates its changes there. (With deltafifo/inorder as its queue, events are in
// order of arrival.)
//
// Completeness. A handler sees a consistent history: an addition of a new object, updates from the
// previous state, a deletion of an added object. Changes while the watch was down arrive as the
// difference between the states before and after; an unobserved deletion is a [DeletedObject] with
// FinalStateUnknown. A handler added later receives the content of the store as of that moment,
// then every later event.
//
// Independence. A slow, stuck or faulty handler delays no other handler. Its backlog is unbounded
// (dropping events would break completeness, waiting would break independence), but visible:
// Snapshot has it. With package fast the backlog of a handler that does not need intermediate
// states can be merged, see [HandlerOptions].
//
// Synced. [SharedIndexInformer.HasSynced] reports whether the first list is in the store;
// [Registration.HasSynced] whether a handler has processed it.
//
// Resync. A handler may ask for periodic updates of every object. They come from the store and cost
// the server nothing. An update without a new resource version, as from a resync or a repeated
// list, goes only to handlers whose resync is due.
//
// Objects in the store are shared by all readers and all handlers. Do not change them; change a
// copy. A lock would not help: others hold the same pointer. The mutation detector
// ([MutationDetectorConfig], or KUBE_CACHE_MUTATION_DETECTOR=true) finds violations.
//
// # Goroutines
//
// Run owns all of them and returns when they have ended: the reflector and its goroutines, the loop
// (on the caller's goroutine), those of the processor (two per handler, or one with package fast),
// and a few that announce the sync and report errors. First the reflector and the loop end; then no
// handler can be added; then the handlers end and drop their backlog, then the rest. Removing a
// handler ends its goroutines (client-go issue 1167).
//
// Callbacks run on the goroutine of their handler. They may call any method of the informer. A
// callback that never returns keeps Run from returning.
//
// # Failure
//
// The reflector recovers where it can and reports other errors to Config.WatchErrorHandler; see
// package reflector.
//
// A panic in a handler goes to wait.PanicHandlers and ends the process: a faulty controller is
// worse than none. With wait.ReallyCrash off, the event counts as handled and the next one follows;
// a registration nevertheless becomes synced (kubernetes/kubernetes#129024).
//
// An event that cannot be applied, because its object has no key, a transform refuses it or an
// index function fails, is counted and reported as a [*ProcessError]; the next event is processed.
// So is an object of a list, and its key keeps its state. A deletion needs only its key.
type SharedIndexInformer[T Object] struct {
	config   Config[T]
	source   ListerWatcher[T]
	indexer  Indexer[T]
	detector *mutationDetector[T] // nil if it is off
	synced   chan struct{}        // closed, under blockDeltas, when the first list is in the store
	ended    chan struct{}        // closed when Run has ended

	processor Processor[T]
	handlers  registry[T]
	failures  *failures

	// blockDeltas makes the store and the stream of events change together: a handler that joins
	// under it finds in the store exactly the effect of the events before its first one. It is
	// acquired before every other lock.
	blockDeltas sync.Mutex
	applied     uint64 // guarded by blockDeltas; the number of the last delta

	mu         sync.Mutex // guards the fields below
	state      State
	controller *controller[T] // nil before Run
}

// State is the state of an informer.
type State uint8

// An informer goes through these once and in this order.
const (
	StateNew State = iota
	StateRunning
	StateStopped
)

// String returns the name of the state.
func (s State) String() string { return [...]string{"new", "running", "stopped"}[s] }

// NewSharedIndexInformer returns a new informer for what lw lists and watches. Run starts it.
func NewSharedIndexInformer[T Object](lw ListerWatcher[T], cfg Config[T]) *SharedIndexInformer[T] {
	cfg = cfg.withDefaults()
	if cfg.TweakListOptions != nil {
		lw = tweaked[T]{lw, cfg.TweakListOptions}
	}
	s := &SharedIndexInformer[T]{
		config: cfg,
		source: lw,
		indexer: cfg.Gears.NewStore(indexer.Config[T]{
			KeyFunc:  MetaNamespaceKeyFunc[T],
			Indexers: cfg.Indexers,
			Trace:    cfg.StoreTrace,
		}),
		synced:    make(chan struct{}),
		ended:     make(chan struct{}),
		processor: cfg.Gears.NewProcessor(),
		handlers:  registry[T]{checkPeriod: cfg.ResyncPeriod},
		failures:  newFailures(),
	}
	if cfg.MutationDetector.Enabled {
		s.detector = newMutationDetector[T](cfg.Name, cfg.Trace, cfg.MutationDetector)
	}
	return s
}

// HasSynced reports whether the first list is in the store. Handlers may not have processed it yet;
// see [Registration.HasSynced].
func (s *SharedIndexInformer[T]) HasSynced() bool { return isClosed(s.synced) }

// Synced returns a channel that is closed when [SharedIndexInformer.HasSynced] becomes true. It
// stays open if the informer stops before.
func (s *SharedIndexInformer[T]) Synced() <-chan struct{} { return s.synced }

// IsStopped reports whether the informer has stopped, which is final.
func (s *SharedIndexInformer[T]) IsStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == StateStopped
}

// Name returns Config.Name.
func (s *SharedIndexInformer[T]) Name() string { return s.config.Name }

// GetIndexer returns the store. Only the informer writes to it: do not write, and do not change the
// objects in it.
func (s *SharedIndexInformer[T]) GetIndexer() Indexer[T] { return s.indexer }

// AddIndexers adds indexes to the store, with the present objects, at any time before the informer
// stops.
func (s *SharedIndexInformer[T]) AddIndexers(indexers indexer.Indexers[T]) error {
	if s.IsStopped() {
		return ErrStopped
	}
	return s.indexer.AddIndexers(indexers)
}

// LastSyncResourceVersion returns the latest resource version of the collection that the informer
// has seen, "" before the first list. It is for display: only the server compares versions.
func (s *SharedIndexInformer[T]) LastSyncResourceVersion() string {
	if c := s.runningController(); c != nil {
		return c.reflector.LastSyncResourceVersion()
	}
	return ""
}

func (s *SharedIndexInformer[T]) runningController() *controller[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.controller
}

// Run starts the informer and blocks until ctx has ended and all goroutines of the informer have
// ended, running callbacks included. It returns nil then. An informer runs once; a second call
// returns [ErrStarted] or [ErrStopped] at once.
func (s *SharedIndexInformer[T]) Run(ctx context.Context) error {
	c, err := s.start(ctx)
	if err != nil {
		return err
	}
	if t := s.config.Trace; t.Started != nil {
		t.Started(s.config.Name)
	}

	// The goroutines that serve handlers outlive the controller. Their context keeps the values of
	// ctx.
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	var background, processor wait.Group
	if s.detector != nil {
		background.StartWithContext(serving, s.detector.run)
	}
	background.Start(func() { s.announceSync(ctx, c.queue.Synced()) })
	background.StartWithContext(serving, s.failures.run)
	processing, stopProcessing := context.WithCancel(serving)
	defer stopProcessing()
	processor.StartWithContext(processing, s.processor.Run)

	c.run(ctx)

	s.setStopped()
	s.blockDeltas.Lock() // a handler is added completely or not at all
	s.handlers.close()
	s.blockDeltas.Unlock()
	stopProcessing()
	processor.Wait() // a callback that does not return delays the end
	stopServing()
	background.Wait()
	close(s.ended)
	if t := s.config.Trace; t.Stopped != nil {
		t.Stopped(s.config.Name)
	}
	return nil
}

func (s *SharedIndexInformer[T]) start(ctx context.Context) (*controller[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case StateRunning:
		return nil, ErrStarted
	case StateStopped:
		return nil, ErrStopped
	}
	s.state = StateRunning
	s.controller = s.newController()
	s.failures.tell = s.tellFailure(ctx)
	return s.controller, nil
}

func (s *SharedIndexInformer[T]) setStopped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = StateStopped
}

// newController is called once.
func (s *SharedIndexInformer[T]) newController() *controller[T] {
	queue := s.config.Gears.NewQueue(deltafifo.Config[T]{
		KeyFunc:      keyFuncOf(s.indexer),
		KnownObjects: s.indexer,
		Transform:    guardedTransform(s.config.Transform),
		Refused:      func(key string, err error) { s.failures.add(&ProcessError{Key: key, Err: err}) },
		Trace:        s.config.QueueTrace,
	})
	cfg := s.config.Reflector
	cfg.Name = s.config.Name
	cfg.ListerWatcher = s.source
	cfg.Store = queue
	cfg.KeyFunc = MetaNamespaceKeyFunc[T]
	cfg.ResyncPeriod = s.handlers.start()
	cfg.ShouldResync = s.shouldResync
	cfg.WatchErrorHandler = s.config.WatchErrorHandler
	c := &controller[T]{queue: queue, process: s.handleDeltas, idle: s.processor.Flush, failed: s.failures.add,
		reflector: s.config.Gears.NewReflector(cfg)}
	c.batches, _ = queue.(batchPopper[T])
	return c
}

// shouldResync reports whether a handler's resync is due. The reflector calls it every check
// period, before it resyncs the queue.
func (s *SharedIndexInformer[T]) shouldResync() bool {
	due := s.processor.ShouldResync(time.Now())
	if t := s.config.Trace; due > 0 && t.ResyncDue != nil {
		t.ResyncDue(s.config.Name, due)
	}
	return due > 0
}

// announceSync waits for the first list to be in the store and then sends the mark that makes
// registrations synced. The queue is synced after the whole list has been distributed.
func (s *SharedIndexInformer[T]) announceSync(ctx context.Context, queueSynced <-chan struct{}) {
	select {
	case <-queueSynced:
	case <-ctx.Done():
		return
	}
	s.blockDeltas.Lock()
	s.processor.Distribute(Notification[T]{Kind: EventSynced})
	close(s.synced)
	s.blockDeltas.Unlock()

	s.processor.Flush()
	if t := s.config.Trace; t.Synced != nil {
		t.Synced(s.config.Name)
	}
}

// tellFailure returns the function that reports each failure.
func (s *SharedIndexInformer[T]) tellFailure(ctx context.Context) func(*ProcessError) {
	return func(err *ProcessError) {
		if t := s.config.Trace; t.ProcessError != nil {
			t.ProcessError(s.config.Name, err)
		}
		if handler := s.config.WatchErrorHandler; handler != nil {
			handler(ctx, err)
		}
	}
}
