package informer

import (
	"context"
	"sync"
	"time"

	"orrery/internal/table"
)

// This page is the sharedProcessor of the article: how one event gets to all handlers.
//
//	                           ┌─▶ addCh ─▶ pop ─▶ nextCh ─▶ run ─▶ handler 1
//	handleDeltas ─▶ Distribute ┤             ▲▼
//	                           │     pendingNotifications
//	                           └─▶ addCh ─▶ pop ─▶ nextCh ─▶ run ─▶ handler 2
//
// Each handler has a processorListener with two goroutines. pop is always ready to receive, so no
// handler can block the informer or another handler. pendingNotifications is the unbounded buffer
// in front of run. Read add, pop and run first.
//
// What this form lacks: an event costs two channel operations per handler, and the backlog of a
// handler cannot be merged. Package fast has the form that shares batches, and a delivery that
// coalesces.

// sharedProcessor has all listeners of an informer.
type sharedProcessor[T any] struct {
	wg sync.WaitGroup // the goroutines of all listeners, including removed ones

	listenersLock    sync.Mutex
	listenersStarted bool
	// listeners are those that have not been removed. The value is whether the last call of
	// ShouldResync found that the resync of a listener is due.
	listeners map[*processorListener[T]]bool
}

func newSharedProcessor[T any]() *sharedProcessor[T] {
	return &sharedProcessor[T]{listeners: map[*processorListener[T]]bool{}}
}

// AddListener adds a handler, before or after Run. initial holds the store's content and, if the
// first list has been delivered, ends with an EventSynced mark, which makes the registration
// synced.
func (p *sharedProcessor[T]) AddListener(h *RegisteredHandler[T], initial []Notification[T]) {
	listener := newProcessorListener(h)
	for _, n := range initial {
		listener.pendingNotifications.Push(n)
	}
	p.listenersLock.Lock()
	defer p.listenersLock.Unlock()
	p.listeners[listener] = false
	if p.listenersStarted {
		p.startLocked(listener)
	}
}

// RemoveListener removes a handler. What pop still delivers to it, RegisteredHandler.Call drops.
func (p *sharedProcessor[T]) RemoveListener(h *RegisteredHandler[T]) {
	p.listenersLock.Lock()
	started := p.listenersStarted
	for listener := range p.listeners {
		if listener.handler == h {
			delete(p.listeners, listener)
			close(listener.removed)
		}
	}
	p.listenersLock.Unlock()
	if !started {
		h.End() // run, which calls End, was never started
	}
}

// Distribute gives n to add of every listener, or for a Sync only of those whose resync is due, and
// returns their number. It calls add without listenersLock: before Run, add blocks until Run, which
// needs that lock, starts the listener. The caller holds blockDeltas, which keeps the order.
func (p *sharedProcessor[T]) Distribute(n Notification[T]) int {
	p.listenersLock.Lock()
	var listeners []*processorListener[T]
	for listener, syncing := range p.listeners {
		if !n.Sync || syncing {
			listeners = append(listeners, listener)
		}
	}
	p.listenersLock.Unlock()
	for _, listener := range listeners {
		listener.add(n)
	}
	return len(listeners)
}

// Flush does nothing: Distribute holds nothing back.
func (p *sharedProcessor[T]) Flush() {}

// ShouldResync marks the listeners whose resync is due. The reflector calls it before it resyncs
// the queue.
func (p *sharedProcessor[T]) ShouldResync(now time.Time) (due int) {
	p.listenersLock.Lock()
	defer p.listenersLock.Unlock()
	for listener := range p.listeners {
		syncing := listener.handler.ShouldResync(now)
		p.listeners[listener] = syncing
		if syncing {
			due++
		}
	}
	return due
}

// Run starts the listeners, waits for the end of ctx, and then for the end of the listeners.
func (p *sharedProcessor[T]) Run(ctx context.Context) {
	p.listenersLock.Lock()
	p.listenersStarted = true
	for listener := range p.listeners {
		p.startLocked(listener)
	}
	p.listenersLock.Unlock()

	<-ctx.Done()
	p.listenersLock.Lock()
	for listener := range p.listeners {
		close(listener.removed)
	}
	clear(p.listeners)
	p.listenersLock.Unlock()
	p.wg.Wait()
}

func (p *sharedProcessor[T]) startLocked(listener *processorListener[T]) {
	p.wg.Go(listener.pop)
	p.wg.Go(listener.run)
}

// processorListener is the way to one handler.
type processorListener[T any] struct {
	handler *RegisteredHandler[T]
	addCh   chan Notification[T] // from distribute to pop
	nextCh  chan Notification[T] // from pop to run; pop closes it
	removed chan struct{}        // closed when no more is added
	ended   chan struct{}        // closed when run has ended, even by runtime.Goexit in a callback

	// pendingNotifications belongs to pop. It holds what run has not received yet.
	pendingNotifications table.Ring[Notification[T]]
}

func newProcessorListener[T any](h *RegisteredHandler[T]) *processorListener[T] {
	return &processorListener[T]{
		handler: h,
		addCh:   make(chan Notification[T]),
		nextCh:  make(chan Notification[T]),
		removed: make(chan struct{}),
		ended:   make(chan struct{}),
	}
}

// add hands n to pop. Before that it counts n.events() with RegisteredHandler.Queued, because the
// callback may come at once; a mark is not counted. add drops n once the listener is removed or run
// has ended. addCh is never closed: another goroutine may be in add when the listener is removed.
func (p *processorListener[T]) add(n Notification[T]) {
	p.handler.Queued(n.events(), n.Number)
	select {
	case p.addCh <- n:
	case <-p.removed:
	case <-p.ended:
	}
}

// pop moves notifications from addCh to nextCh in their order. It is always ready to receive, and
// buffers in pendingNotifications, without limit, what run is not ready for. After the removal it
// continues until the buffer is empty; when run has ended it returns at once. At its end it closes
// nextCh.
func (p *processorListener[T]) pop() {
	defer close(p.nextCh) // tells run to return
	for removed := p.removed; ; {
		var nextCh chan<- Notification[T] // nil, and so never ready, while there is nothing to offer
		var notification Notification[T]
		if p.pendingNotifications.Len() > 0 {
			nextCh, notification = p.nextCh, p.pendingNotifications.At(0)
		} else if removed == nil {
			return
		}
		select {
		case nextCh <- notification:
			p.pendingNotifications.Pop()
		case n := <-p.addCh:
			p.pendingNotifications.Push(n)
		case <-removed:
			removed = nil
		case <-p.ended:
			return
		}
	}
}

// run calls the handler for each notification from nextCh, one at a time, until pop closes nextCh.
// It does so with RegisteredHandler.Call inside RegisteredHandler.Run, which reports the end of the
// callbacks. At its end it closes ended, even if a callback ends the goroutine by runtime.Goexit.
func (p *processorListener[T]) run() {
	defer close(p.ended)
	p.handler.Run(func() {
		for n := range p.nextCh {
			p.handler.Call(&n)
		}
	})
}
