package informer

import (
	"context"

	"orrery/deltafifo"
	"orrery/deltafifo/fast"
	"orrery/informer/reflector/machine"
	"orrery/wait"
)

// Run starts the informer and blocks until ctx has ended and every goroutine of the informer has: a callback that
// is going on is waited for. It returns nil then. An informer runs once; a second call returns [ErrStarted] or
// [ErrStopped] at once.
//
// The order of the end matters to handlers: first the flow of events ends, then no handler can be added, then the
// handlers stop. What waits for a handler at that time is dropped.
func (s *SharedIndexInformer[T]) Run(ctx context.Context) error {
	c, err := s.start(ctx)
	if err != nil {
		return err
	}
	if t := s.config.Trace; t != nil && t.Started != nil {
		t.Started(s.config.Name)
	}

	// Everything that serves handlers outlives the controller. Its context keeps the values of ctx.
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	var servants wait.Group
	if s.detector != nil {
		servants.StartWithContext(serving, s.detector.run)
	}
	servants.Start(func() { s.announceSync(ctx, c.queue.Synced()) })
	servants.StartWithContext(serving, s.failures.run)
	s.processor.start() // before the first event: a channel-pair listener needs its goroutine to take one

	c.run(ctx)

	s.setStopped()
	s.processor.stop()
	stopServing()
	servants.Wait()
	close(s.ended)
	if t := s.config.Trace; t != nil && t.Stopped != nil {
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
	s.failures.tell = s.tellFailure(ctx, s.watchErrorHandler)
	return s.controller, nil
}

func (s *SharedIndexInformer[T]) setStopped() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = StateStopped
}

// newController is called once, with the transform and the error handler that hold from then on.
func (s *SharedIndexInformer[T]) newController() *controller[T] {
	known, _ := s.store.(keyKnower)
	queue := fast.New(deltafifo.Config[T]{
		KeyFunc:      knownKeys[T]{known}.keyOf,
		KnownObjects: s.store,
		Transform:    guardedTransform(s.transform, s.failures.add),
		Trace:        s.config.QueueTrace,
	})
	cfg := s.config.Reflector
	cfg.Name = s.config.Name
	cfg.ListerWatcher = s.source
	cfg.Store = queue
	cfg.KeyFunc = MetaNamespaceKeyFunc[T]
	cfg.ResyncPeriod = s.processor.resyncCheckPeriod()
	cfg.ShouldResync = s.processor.shouldResync
	cfg.WatchErrorHandler = s.watchErrorHandler
	c := newController(queue, func() *Reflector[T] { return machine.New(cfg) })
	c.process, c.idle, c.failed = s.handleDeltas, s.processor.flush, s.failures.add
	c.release = s.processor.release
	return c
}

// announceSync waits for the first list to be in the store and puts the mark behind it that makes registrations
// synced. Everything that belongs to the list has been appended before the queue says that it is synced.
func (s *SharedIndexInformer[T]) announceSync(ctx context.Context, queueSynced <-chan struct{}) {
	select {
	case <-queueSynced:
	case <-ctx.Done():
		return
	}
	s.blockDeltas.Lock()
	s.processor.appendSynced()
	close(s.synced)
	s.blockDeltas.Unlock()

	s.processor.flush()
	if t := s.config.Trace; t != nil && t.Synced != nil {
		t.Synced(s.config.Name)
	}
}

// tellFailure returns what failures does with each error.
func (s *SharedIndexInformer[T]) tellFailure(ctx context.Context, handler func(context.Context, error)) func(*ProcessError) {
	return func(err *ProcessError) {
		if t := s.config.Trace; t != nil && t.ProcessError != nil {
			t.ProcessError(s.config.Name, err)
		}
		if handler != nil {
			handler(ctx, err)
		}
	}
}
