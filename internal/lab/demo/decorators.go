package demo

import (
	"context"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/queue"
)

// seam is what the decorators of one informer or queue share: items stop waiting when it
// ends.
type seam struct {
	gates *Gates
	name  string // of the informer or queue
	ctx   context.Context
	end   context.CancelFunc
}

func newSeam(gates *Gates, name string) *seam {
	l := &seam{gates: gates, name: name}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// hold blocks while the item waits at its gate.
func (l *seam) hold(gate GateID, key string, failures int) {
	l.gates.Wait(l.ctx, Item{gate, l.name, key, failures})
}

// HoldInformer returns the configuration of an informer with gates: G2 before pops, G4 before
// handler calls. config.Name names the informer in items.
func HoldInformer[T informer.Object](g *Gates, config informer.Config[T]) informer.Config[T] {
	if g == nil {
		return config
	}
	l := newSeam(g, config.Name)
	config.Gears = config.Gears.WithDefaults()
	newQueue := config.Gears.NewQueue
	config.Gears.NewQueue = func(c deltafifo.Config[T]) informer.Queue[T] { return holdPops(l, newQueue, c) }
	config.WrapHandler = func(_ string, h informer.ResourceEventHandler[T]) informer.ResourceEventHandler[T] {
		return heldHandler[T]{l, h}
	}
	g.wire(G2, G4)
	return config
}

// popHolder is an informer's queue whose pops wait at G2. It has no PopBatch, so the informer pops
// one key at a time.
type popHolder[T informer.Object] struct {
	informer.Queue[T]
	*seam
	grown chan struct{} // has an entry when something was queued
}

func holdPops[T informer.Object](
	l *seam, newQueue func(deltafifo.Config[T]) informer.Queue[T], config deltafifo.Config[T],
) informer.Queue[T] {
	p := &popHolder[T]{seam: l, grown: make(chan struct{}, 1)}
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
	if q, ok := p.Queue.(reflector.Bookmarker); ok {
		q.Bookmark(resourceVersion)
		p.signal()
	}
}

// Pop waits for a key outside of the queue: a Pop that waits inside would take the next key
// although the gate was closed in the meantime.
func (p *popHolder[T]) Pop(process func(key string, d deltafifo.Deltas[T],
	isInInitialList bool) error) (deltafifo.Deltas[T], error) {
	for p.Queue.Len() == 0 && p.ctx.Err() == nil {
		select {
		case <-p.grown:
		case <-p.ctx.Done():
		}
	}
	if p.ctx.Err() == nil && p.gates.holds(G2) {
		if waiting := p.Queue.Snapshot().Waiting; len(waiting) > 0 {
			p.hold(G2, waiting[0].Key, 0)
		}
	}
	return p.Queue.Pop(process)
}

func keyOf[T informer.Object](object T) string {
	key, _ := informer.MetaNamespaceKeyFunc(object) // the reflector reports an object without a name
	return key
}

// heldHandler holds calls at G4.
type heldHandler[T informer.Object] struct {
	*seam
	informer.ResourceEventHandler[T]
}

func (h heldHandler[T]) OnAdd(object T, initial bool) {
	h.hold(G4, keyOf(object), 0)
	h.ResourceEventHandler.OnAdd(object, initial)
}

func (h heldHandler[T]) OnUpdate(old, object T) {
	h.hold(G4, keyOf(object), 0)
	h.ResourceEventHandler.OnUpdate(old, object)
}

func (h heldHandler[T]) OnDelete(deleted informer.DeletedObject[T]) {
	h.hold(G4, deleted.Key, 0)
	h.ResourceEventHandler.OnDelete(deleted)
}

// WorkQueue is the constructor of a work queue, as nsctl.Config and controller.PoolConfig have it.
type WorkQueue = func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]

// HoldQueue returns a constructor of work queues with gates: G5 after Get, G7 before Done. name
// names the queue in items.
func HoldQueue(g *Gates, name string, newQueue WorkQueue) WorkQueue {
	if g == nil {
		return newQueue
	}
	return func(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
		g.wire(G5, G7)
		return &heldQueue{newQueue(limiter, config), newSeam(g, name)}
	}
}

type heldQueue struct {
	queue.ObservableInterface[string]
	*seam
}

func (q *heldQueue) Get() (key string, shutdown bool) {
	key, shutdown = q.ObservableInterface.Get()
	if !shutdown {
		q.hold(G5, key, q.NumRequeues(key))
	}
	return key, shutdown
}

func (q *heldQueue) Done(key string) {
	q.hold(G7, key, q.NumRequeues(key))
	q.ObservableInterface.Done(key)
}

// ShutDown ends all waiting: the workers have to end.
func (q *heldQueue) ShutDown() {
	q.end()
	q.ObservableInterface.ShutDown()
}

// ShutDownWithDrain ends all waiting: a key that waits would never be done.
func (q *heldQueue) ShutDownWithDrain() {
	q.end()
	q.ObservableInterface.ShutDownWithDrain()
}
