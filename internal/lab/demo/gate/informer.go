package gate

import (
	"context"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/internal/observe/trace"
)

// line is what the decorators of one informer or queue share: items stop waiting when it
// ends.
type line struct {
	gates *Gates
	name  string // of the informer or queue
	ctx   context.Context
	end   context.CancelFunc
}

func newLine(gates *Gates, name string) *line {
	l := &line{gates: gates, name: name}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// hold blocks while the item waits at its gate.
func (l *line) hold(item Item) {
	item.Resource = l.name
	_ = l.gates.Wait(l.ctx, item) // what the item belongs to notices the end of its context itself
}

// HoldInformer returns the configuration of an informer with gates: G2 before pops, G4 before
// handler calls. config.Name names the informer in items. Its lists and a silent watch have no time
// limit: their requests may wait at G6.
func HoldInformer[T informer.Object](g *Gates, config informer.Config[T]) informer.Config[T] {
	if g == nil {
		return config
	}
	l := newLine(g, config.Name)
	config.Gears = config.Gears.WithDefaults()
	newQueue, wrapped := config.Gears.NewQueue, config.WrapHandler
	config.Reflector.IdleTimeout, config.Reflector.ListTimeout = -1, -1
	config.Gears.NewQueue = func(c deltafifo.Config[T]) informer.Queue[T] { return holdPops(l, newQueue, c) }
	config.WrapHandler = func(name string, h informer.ResourceEventHandler[T]) informer.ResourceEventHandler[T] {
		if wrapped != nil {
			h = wrapped(name, h)
		}
		return heldHandler[T]{l, name, h}
	}
	g.wire(G2, G4)
	return config
}

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

func keyOf[T informer.Object](object T) string {
	key, _ := informer.MetaNamespaceKeyFunc(object) // the reflector reports an object without a name
	return key
}

// heldHandler holds calls at G4.
type heldHandler[T informer.Object] struct {
	*line
	handler string
	informer.ResourceEventHandler[T]
}

func (h heldHandler[T]) OnAdd(object T, initial bool) {
	h.hold(Item{Gate: G4, Handler: h.handler, Key: keyOf(object), Event: informer.EventAdd.String()})
	h.ResourceEventHandler.OnAdd(object, initial)
}

func (h heldHandler[T]) OnUpdate(old, object T) {
	h.hold(Item{Gate: G4, Handler: h.handler, Key: keyOf(object), Event: informer.EventUpdate.String()})
	h.ResourceEventHandler.OnUpdate(old, object)
}

func (h heldHandler[T]) OnDelete(deleted informer.DeletedObject[T]) {
	h.hold(Item{Gate: G4, Handler: h.handler, Key: deleted.Key, Event: informer.EventDelete.String()})
	h.ResourceEventHandler.OnDelete(deleted)
}
