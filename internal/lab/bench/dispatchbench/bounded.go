package dispatchbench

import (
	"context"
	"sync"
	"time"

	"orrery/informer"
)

// boundedCapacity is the number of events that may wait for a handler of the bounded design.
const boundedCapacity = 1024

// bounded is a processor with a channel of fixed capacity for each handler. When a channel is full
// the informer blocks: no handler is called, the store does not change, and changes accumulate in
// the DeltaFIFO by object. It is measured because it is the obvious answer to a slow handler. It is
// not a gear, because one handler can block all others forever: a callback that adds or removes a
// handler while its own channel is full deadlocks.
type bounded[T any] struct {
	running sync.WaitGroup

	mu        sync.Mutex // guards the fields below
	started   bool
	listeners []boundedListener[T]
}

type boundedListener[T any] struct {
	handler *informer.RegisteredHandler[T]
	events  chan informer.Notification[T]
	removed chan struct{}
}

func newBounded[T any]() informer.Processor[T] { return &bounded[T]{} }

func (p *bounded[T]) AddListener(h *informer.RegisteredHandler[T], initial []informer.Notification[T]) {
	l := boundedListener[T]{h, make(chan informer.Notification[T], boundedCapacity+len(initial)), make(chan struct{})}
	for _, n := range initial {
		l.events <- n
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners = append(p.listeners, l)
	if p.started {
		p.running.Go(l.run)
	}
}

func (p *bounded[T]) RemoveListener(h *informer.RegisteredHandler[T]) {
	p.mu.Lock()
	started := p.started
	kept := make([]boundedListener[T], 0, len(p.listeners))
	for _, l := range p.listeners {
		if l.handler == h {
			close(l.removed)
		} else {
			kept = append(kept, l)
		}
	}
	p.listeners = kept
	p.mu.Unlock()
	if !started {
		h.End()
	}
}

// Distribute blocks until the slowest handler has room. No measurement resyncs, so no handler is
// ever due.
func (p *bounded[T]) Distribute(n informer.Notification[T]) int {
	p.mu.Lock()
	listeners := p.listeners
	p.mu.Unlock()
	for _, l := range listeners {
		if n.Kind != informer.EventSynced {
			l.handler.Queued(1, n.Number)
		}
		select {
		case l.events <- n:
		case <-l.removed:
		}
	}
	return len(listeners)
}

func (p *bounded[T]) Flush() {}

func (p *bounded[T]) ShouldResync(time.Time) int { return 0 }

func (p *bounded[T]) Run(ctx context.Context) {
	p.mu.Lock()
	p.started = true
	for _, l := range p.listeners {
		p.running.Go(l.run)
	}
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	for _, l := range p.listeners {
		close(l.removed)
	}
	p.listeners = nil
	p.mu.Unlock()
	p.running.Wait()
}

func (l boundedListener[T]) run() {
	l.handler.Run(func() {
		for {
			select {
			case n := <-l.events:
				l.handler.Call(&n)
			case <-l.removed:
				return
			}
		}
	})
}
