package fast

import (
	"context"
	"slices"
	"sync"
	"time"

	"orrery/informer"
)

// processor distributes events to the listeners of an informer, see [informer.Processor].
//
// Events are appended one by one and distributed in batches by Flush. The listeners share a batch:
// it never changes, and each keeps a reference to it.
//
// Invariant: the waiting events are for all listeners, except in a mixed batch.
type processor[T any] struct {
	coalescing bool           // for every handler
	goroutines sync.WaitGroup // of the listeners, including removed ones

	mu        sync.Mutex
	started   bool           // listeners have goroutines
	listeners []*listener[T] // in the order of registration

	waiting  []informer.Notification[T] // unflushed events
	lastSize int                        // of the last flushed batch
	mixed    bool                       // waiting has events that are not for every listener, or a mark
}

// listener is one handler and its waiting events.
type listener[T any] struct {
	handler *informer.RegisteredHandler[T]
	queue   deliveryQueue[T]
	due     bool // takes part in the present resync; guarded by the processor's mutex
}

func (p *processor[T]) AddListener(h *informer.RegisteredHandler[T], initial []informer.Notification[T]) {
	l := &listener[T]{handler: h, queue: newDeliveryQueue[T](h.Options(), p.coalescing, initial)}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked() // the initial content has the effect of the waiting events
	p.listeners = append(p.listeners, l)
	if p.started {
		p.goroutines.Go(l.run)
	}
}

func (p *processor[T]) RemoveListener(h *informer.RegisteredHandler[T]) {
	p.mu.Lock()
	i := slices.IndexFunc(p.listeners, func(l *listener[T]) bool { return l.handler == h })
	started, l := p.started, (*listener[T])(nil)
	if i >= 0 {
		l = p.listeners[i]
		p.listeners = slices.Delete(p.listeners, i, i+1)
	}
	p.mu.Unlock()
	if l != nil {
		l.queue.stop()
	}
	if !started {
		h.End() // there is no goroutine to do so
	}
}

func (p *processor[T]) Distribute(n informer.Notification[T]) (listeners int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if listeners = len(p.listeners); n.Sync {
		listeners = p.dueLocked()
	}
	if listeners == 0 {
		return 0
	}
	if p.waiting == nil {
		// Batches are of similar size as long as the load is: under low load a batch is one event.
		p.waiting = make([]informer.Notification[T], 0, max(p.lastSize, 1))
	}
	p.waiting = append(p.waiting, n)
	p.mixed = p.mixed || n.Sync || n.Kind == informer.EventSynced
	return listeners
}

func (p *processor[T]) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked()
}

// flushLocked does not wait for any handler.
func (p *processor[T]) flushLocked() {
	if len(p.waiting) == 0 {
		return
	}
	for _, l := range p.listeners {
		l.addLocked(p.waiting, p.mixed)
	}
	p.waiting, p.lastSize, p.mixed = nil, len(p.waiting), false
}

// addLocked queues the events of a batch that are for the listener.
func (l *listener[T]) addLocked(batch []informer.Notification[T], mixed bool) {
	if !mixed {
		l.push(batch, len(batch), batch[len(batch)-1].Number)
		return
	}
	// Push the runs between the events that are not for this listener. The mark travels with the
	// events; it is not counted and has no number.
	begin, count, last := 0, 0, uint64(0)
	for i := range batch {
		switch n := &batch[i]; {
		case n.Sync && !l.due:
			l.push(batch[begin:i], count, last)
			begin, count = i+1, 0
		case n.Kind != informer.EventSynced:
			count++
			last = n.Number
		}
	}
	l.push(batch[begin:], count, last)
}

// push queues events. count of them are no marks, and last is the number of the last of those.
func (l *listener[T]) push(events []informer.Notification[T], count int, last uint64) {
	if len(events) > 0 {
		l.handler.Adding(count, last)
		l.handler.Merged(l.queue.add(events))
	}
}

func (p *processor[T]) ShouldResync(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flushLocked() // the waiting events are for the previous resync
	for _, l := range p.listeners {
		l.due = l.handler.ShouldResync(now)
	}
	return p.dueLocked()
}

func (p *processor[T]) dueLocked() (count int) {
	for _, l := range p.listeners {
		if l.due {
			count++
		}
	}
	return count
}

func (p *processor[T]) Run(ctx context.Context) {
	p.mu.Lock()
	p.started = true
	for _, l := range p.listeners {
		p.goroutines.Go(l.run)
	}
	p.mu.Unlock()

	<-ctx.Done()
	p.mu.Lock()
	listeners := p.listeners
	p.listeners = nil
	p.mu.Unlock()
	for _, l := range listeners {
		l.queue.stop()
	}
	p.goroutines.Wait()
}

// run is the goroutine of a listener.
func (l *listener[T]) run() {
	defer l.queue.stop() // if a handler ends by runtime.Goexit, no events are kept for it
	l.handler.Run(func() { l.queue.run(l.handler) })
}
