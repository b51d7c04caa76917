package informer

import (
	"context"
	"time"
)

// AddEventHandler registers a handler with the resync period of the informer.
//
// A handler may be added at any time. One that is added before Run is told of everything; one that is added later
// is first told of what the store holds, as OnAdd with isInInitialList true, and then of every change after that
// moment: nothing is missed and nothing comes twice. Joining is cheap and holds nobody up, because the store gives
// a snapshot that is read on the goroutine of the new handler (client-go copies the store while no event can be
// processed).
//
// After the informer has stopped it returns [ErrStopped].
func (s *SharedIndexInformer[T]) AddEventHandler(h ResourceEventHandler[T]) (*Registration, error) {
	return s.AddEventHandlerWithOptions(h, HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandler with a resync period of the handler's own; zero is never.
func (s *SharedIndexInformer[T]) AddEventHandlerWithResyncPeriod(h ResourceEventHandler[T], resync time.Duration) (*Registration, error) {
	if resync == 0 {
		resync = -1
	}
	return s.AddEventHandlerWithOptions(h, HandlerOptions{ResyncPeriod: resync})
}

// AddEventHandlerWithOptions is AddEventHandler with options.
func (s *SharedIndexInformer[T]) AddEventHandlerWithOptions(h ResourceEventHandler[T], opts HandlerOptions) (*Registration, error) {
	if h == nil {
		return nil, ErrNoHandler
	}
	if s.IsStopped() {
		return nil, ErrStopped
	}
	opts = s.optionsWithDefaults(opts)
	l, initial, err := s.joinHandler(h, opts)
	if err != nil {
		return nil, err
	}
	if s.config.Trace != nil && s.config.Trace.HandlerAdded != nil {
		s.config.Trace.HandlerAdded(l.registration.info, initial)
	}
	return l.registration, nil
}

func (s *SharedIndexInformer[T]) optionsWithDefaults(opts HandlerOptions) HandlerOptions {
	if opts.ResyncPeriod == 0 {
		opts.ResyncPeriod = s.config.ResyncPeriod
	}
	if opts.Delivery == 0 {
		opts.Delivery = s.config.Delivery
	}
	if opts.Capacity <= 0 {
		opts.Capacity = s.config.Capacity
	}
	return opts
}

func (s *SharedIndexInformer[T]) joinHandler(h ResourceEventHandler[T], opts HandlerOptions) (l *listener[T], initial int, err error) {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	initial = s.store.Len()
	l, err = s.processor.join(h, opts, func() *initialContent[T] { return takeInitial(initial, s.store.All()) })
	return l, initial, err
}

// RemoveEventHandler removes a handler and does not wait: a callback that is going on goes on, no other begins.
// Events that wait for the handler are dropped; whoever needs them uses ShutDownEventHandlerWithDrain.
//
// Removing a handler again does nothing. A registration of another informer gives [ErrForeignRegistration].
func (s *SharedIndexInformer[T]) RemoveEventHandler(r *Registration) error {
	l, _, err := s.leave(r)
	if l != nil {
		l.stop()
	}
	return err
}

// ShutDownEventHandler is RemoveEventHandler that returns when the last callback has: from then on what the
// handler uses may be torn down. If ctx ends before, it returns the error of ctx and the handler is removed all
// the same.
//
// Called from a callback of the handler itself it cannot wait. It removes the handler and returns
// [ErrInsideHandler].
func (s *SharedIndexInformer[T]) ShutDownEventHandler(ctx context.Context, r *Registration) error {
	if err := s.RemoveEventHandler(r); err != nil {
		return err
	}
	return r.waitEnded(ctx)
}

// ShutDownEventHandlerWithDrain is ShutDownEventHandler that lets the handler work off what was distributed before
// the call. If ctx ends before that is done, the rest is dropped and the error of ctx returned.
//
// Called from a callback of the handler itself it returns [ErrInsideHandler] and the rest is still delivered. An
// informer that stops meanwhile drops the rest, which is no error.
func (s *SharedIndexInformer[T]) ShutDownEventHandlerWithDrain(ctx context.Context, r *Registration) error {
	l, rest, err := s.leave(r)
	if err != nil {
		return err
	}
	if l != nil {
		l.drain(rest)
	}
	err = r.waitEnded(ctx)
	if l != nil && ctx.Err() != nil {
		l.stop()
	}
	return err
}

// leave takes a handler out of the processor. A nil listener means that there is nothing left to end; rest is for drain.
func (s *SharedIndexInformer[T]) leave(r *Registration) (l *listener[T], rest []batch[T], err error) {
	if r == nil || r.owner != any(s.processor) {
		return nil, nil, ErrForeignRegistration
	}
	l, started, rest := s.processor.leave(r)
	if l == nil {
		return nil, nil, nil
	}
	if s.config.Trace != nil && s.config.Trace.HandlerRemoved != nil {
		s.config.Trace.HandlerRemoved(r.info)
	}
	if !started {
		l.end() // there is no goroutine that would do it
		return nil, nil, nil
	}
	return l, rest, nil
}
