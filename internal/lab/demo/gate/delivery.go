package gate

import (
	"context"
	"slices"
	"sync"
	"time"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/internal/observe/trace"
)

// popHolder is an informer's queue whose pops wait at G2. It has no PopBatch, so the informer pops
// one key at a time.
type popHolder[T informer.Object] struct {
	informer.Queue[T]
	*line
	grown chan struct{} // has an entry when something was queued
}

func holdPops[T informer.Object](
	l *line, newQueue func(deltafifo.Config[T]) informer.Queue[T], config deltafifo.Config[T],
) informer.Queue[T] {
	p := &popHolder[T]{line: l, grown: make(chan struct{}, 1)}
	config.Trace = deltafifo.JoinTraces(config.Trace, &deltafifo.Trace[T]{
		Queued:   func(string, deltafifo.Delta[T], int) { p.signal() },
		Replaced: func(string, int, int, int) { p.signal() },
		Resynced: func(int, int, int) { p.signal() },
	})
	p.Queue = newQueue(config)
	return p
}

func (p *popHolder[T]) signal() {
	select {
	case p.grown <- struct{}{}:
	default:
	}
}

// Close ends everything that waits in the informer.
func (p *popHolder[T]) Close() {
	p.end()
	p.Queue.Close()
}

// Bookmark passes the position on, see reflector.Bookmarker.
func (p *popHolder[T]) Bookmark(resourceVersion string) {
	if q, ok := p.Queue.(interface{ Bookmark(resourceVersion string) }); ok {
		q.Bookmark(resourceVersion)
		p.signal()
	}
}

// Pop waits for a key outside of the queue: a Pop that waits inside would take the next key
// although the gate was closed in the meantime.
func (p *popHolder[T]) Pop(process func(key string, d deltafifo.Deltas[T], isInInitialList bool) error) (deltafifo.Deltas[T], error) {
	for p.Queue.Len() == 0 && p.ctx.Err() == nil {
		select {
		case <-p.grown:
		case <-p.ctx.Done():
		}
	}
	if p.ctx.Err() == nil && p.gates.holds(G2) {
		if waiting := p.Queue.Snapshot().Waiting; len(waiting) > 0 {
			p.hold(Item{Gate: G2, Key: waiting[0].Key, Deltas: lettersOf(waiting[0].Types)})
		}
	}
	return p.Queue.Pop(process)
}

// lettersOf returns the letter of each type, as a recording has it.
func lettersOf(types []deltafifo.DeltaType) (letters string) {
	for _, t := range types {
		letters += trace.Letter(t)
	}
	return letters
}

// distributionHolder is a processor that keeps what was distributed until the informer calls Flush,
// which waits at G3. The informer holds its lock during Distribute and none during Flush.
type distributionHolder[T informer.Object] struct {
	informer.Processor[T]
	*line
	trace *informer.Trace

	mu        sync.Mutex // guards the fields below; acquired after the informer's lock
	listeners int
	stored    []*stored[T] // stored and not distributed, the oldest first
	flushing  bool         // a goroutine is in Flush
}

type stored[T any] struct {
	notification informer.Notification[T]
	ctx          context.Context // of its wait
	pass         context.CancelFunc
}

func holdDistribution[T informer.Object](l *line, p informer.Processor[T], trace *informer.Trace) informer.Processor[T] {
	return &distributionHolder[T]{Processor: p, line: l, trace: trace}
}

// Distribute keeps n if it may have to wait, and returns 0 then: it is not distributed yet. A mark
// waits only behind an event.
func (p *distributionHolder[T]) Distribute(n informer.Notification[T]) (listeners int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mark := n.Kind == informer.EventSynced
	if len(p.stored) == 0 && (mark || p.listeners == 0 || !p.gates.holds(G3)) {
		return p.Processor.Distribute(n)
	}
	s := &stored[T]{notification: n}
	s.ctx, s.pass = context.WithCancel(p.ctx)
	p.stored = append(p.stored, s)
	return 0
}

// Flush distributes what is stored, one event after the other as the gate lets them through.
func (p *distributionHolder[T]) Flush() {
	for next := p.begin(); next != nil; next = p.next() {
		if n := &next.notification; n.Kind != informer.EventSynced {
			item := Item{Gate: G3, Key: n.Key, Event: n.Kind.String(), Resource: p.name}
			_ = p.gates.Wait(next.ctx, item)
		}
		p.mu.Lock()
		if len(p.stored) > 0 && p.stored[0] == next {
			p.distributeLocked()
		}
		p.mu.Unlock()
		p.Processor.Flush()
	}
	p.Processor.Flush()
}

// begin returns the first event to wait for; nil if there is none, or another goroutine waits.
func (p *distributionHolder[T]) begin() *stored[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flushing || len(p.stored) == 0 {
		return nil
	}
	p.flushing = true
	return p.stored[0]
}

// next returns the next event to wait for.
func (p *distributionHolder[T]) next() *stored[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.stored) == 0 {
		p.flushing = false
		return nil
	}
	return p.stored[0]
}

// distributeLocked distributes the oldest stored event and traces it, as the informer would have.
func (p *distributionHolder[T]) distributeLocked() {
	s := p.stored[0]
	p.stored = p.stored[1:]
	s.pass()
	n := s.notification
	listeners := p.Processor.Distribute(n)
	if listeners > 0 && n.Kind != informer.EventSynced && p.trace != nil && p.trace.Distributed != nil {
		p.trace.Distributed(informer.EventInfo{Number: n.Number, Kind: n.Kind, Key: n.Key}, listeners)
	}
}

// ShouldResync puts the resync off while one of an earlier resync is stored: its listeners would
// change.
func (p *distributionHolder[T]) ShouldResync(now time.Time) (due int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.stored, func(s *stored[T]) bool { return s.notification.Sync }) {
		return 0
	}
	return p.Processor.ShouldResync(now)
}

// AddListener lets what is stored go on: the handler's initial content has its effect.
func (p *distributionHolder[T]) AddListener(h *informer.RegisteredHandler[T], initial []informer.Notification[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.stored) > 0 {
		p.distributeLocked()
	}
	p.listeners++
	p.Processor.AddListener(h, initial)
}

// RemoveListener lets what is stored go on: the handler still receives it.
func (p *distributionHolder[T]) RemoveListener(h *informer.RegisteredHandler[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.stored) > 0 {
		p.distributeLocked()
	}
	p.listeners--
	p.Processor.RemoveListener(h)
}
