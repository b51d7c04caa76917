package informer

import (
	"fmt"
	"slices"
	"time"
)

// HandlerOptions are the options of one handler. The zero value is that of [SharedIndexInformer.AddEventHandler].
type HandlerOptions struct {
	// Name is shown by traces and snapshots. Default: the type of the handler.
	Name string
	// ResyncPeriod is how often the handler wants to be reminded of every object by an OnUpdate in which nothing
	// has changed. Zero takes the informer's period, a negative value means never; below one second is raised to
	// one second. Before the informer starts a short period makes the whole informer look more often; after that
	// it is raised to the period in which the informer looks. An informer whose own period is zero never
	// resyncs, whatever its handlers ask for.
	ResyncPeriod time.Duration
	// Delivery chooses how events get to this handler. Default: Config.Delivery.
	Delivery Delivery
	// Capacity is how many events may wait for this handler before the informer waits for it. It is for [Bounded] only.
	// Default: Config.Capacity.
	Capacity int
	// CompactAfter bounds what a handler that is stuck costs: when more events than this wait for it, they are merged
	// into one for each object, from the state that the handler was told last to the newest one. It skips states
	// like a handler of a broken watch does; one that has to see every single change must not set it. Zero, the
	// default and what client-go does, is never. It works with [Batching] only.
	CompactAfter int
}

// join adds a listener that is told of what content returns, and then of every event that is appended from now on.
// The caller holds blockDeltas, so that content and the stream fit together.
func (p *processor[T]) join(h ResourceEventHandler[T], opts HandlerOptions, content func() *initialContent[T]) (*listener[T], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, ErrStopped
	}
	l := p.newListenerLocked(h, opts)
	if l.initial = content(); l.initial != nil {
		l.added.Store(uint64(l.initial.count))
		l.peak.Store(uint64(l.initial.count))
	}
	p.listeners = append(slices.Clip(p.listeners), l)
	if p.started {
		p.goroutines.Go(l.run)
	}
	return l, nil
}

func (p *processor[T]) newListenerLocked(h ResourceEventHandler[T], opts HandlerOptions) *listener[T] {
	if opts.Name == "" {
		opts.Name = fmt.Sprintf("%T", h)
	}
	p.lastID++
	info := HandlerInfo{Informer: p.informer, Handler: opts.Name, ID: p.lastID}
	l := &listener[T]{
		handler:      h,
		registration: newRegistration(info, p),
		trace:        p.trace,
		delivery:     opts.Delivery,
		pipe:         newPipe[T](pipeConfig{delivery: opts.Delivery, capacity: opts.Capacity, compactAfter: opts.CompactAfter}),
		joined:       p.accepted,
		next:         p.accepted,
		complete:     p.synced,
	}
	if p.trace != nil && p.trace.HandlerStuck != nil {
		l.begun = &begun{}
	}
	if p.released {
		l.pipe.release()
	}
	l.onPanic = l.panicked
	l.resync.requested = p.requestedPeriodLocked(opts.ResyncPeriod)
	l.resync.adapt(p.checkPeriod, time.Now())
	return l
}

// requestedPeriodLocked applies the lower bounds to a period that is wished for, and lets a wish that comes
// early enough lower the period of everybody.
func (p *processor[T]) requestedPeriodLocked(wish time.Duration) time.Duration {
	if wish <= 0 || p.checkPeriod == 0 {
		return 0
	}
	wish = max(wish, MinimumResyncPeriod)
	if wish >= p.checkPeriod || p.started {
		return max(wish, p.checkPeriod)
	}
	p.checkPeriod = wish
	for _, l := range p.listeners {
		l.resync.adapt(wish, time.Now())
	}
	return wish
}

// leave takes a listener out: it is given no further events. started tells whether it has a goroutine. A nil
// listener means that it had left before, or that the processor has stopped.
//
// rest is what was appended before and may not have been handed to the listener yet, for listener.drain. To wait for a
// flush instead would not do: it may be waiting for a handler, and that for us.
func (p *processor[T]) leave(r *Registration) (l *listener[T], started bool, rest []batch[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.listeners, func(l *listener[T]) bool { return l.registration == r })
	if i < 0 {
		return nil, p.started, nil
	}
	l = p.listeners[i]
	p.listeners = slices.Concat(p.listeners[:i], p.listeners[i+1:])
	return l, p.started, []batch[T]{p.inFlight, p.waitingLocked()}
}

// current returns the listeners that have not left. The slice must not be changed.
func (p *processor[T]) current() []*listener[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listeners
}

// registrations returns those of the listeners that have not left.
func (p *processor[T]) registrations() []*Registration {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*Registration, len(p.listeners))
	for i, l := range p.listeners {
		out[i] = l.registration
	}
	return out
}
