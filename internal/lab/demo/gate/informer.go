package gate

import (
	"context"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/restclient/api"
)

// line is what the decorators of one informer, queue or watch share: items stop waiting when it
// ends.
type line struct {
	gates *Gates
	name  string // of the informer or queue
	ctx   context.Context
	end   context.CancelFunc
}

func newLine(ctx context.Context, gates *Gates, name string) *line {
	l := &line{gates: gates, name: name}
	l.ctx, l.end = context.WithCancel(ctx)
	return l
}

// hold blocks while the item waits at its gate.
func (l *line) hold(item Item) {
	item.Resource = l.name
	_ = l.gates.Wait(l.ctx, item) // what the item belongs to notices the end of its context itself
}

// HoldInformer returns the source and the configuration of an informer with gates: G1 at decoded
// watch events, G2 before pops, G3 before the distribution, G4 before handler calls. config.Name
// names the informer in items. The watch has no time limit for silence, so nobody asks the source
// whether it has a keepalive.
func HoldInformer[T informer.Object](
	g *Gates, source informer.ListerWatcher[T], config informer.Config[T],
) (informer.ListerWatcher[T], informer.Config[T]) {
	if g == nil {
		return source, config
	}
	l := newLine(context.Background(), g, config.Name)
	config.Gears = config.Gears.WithDefaults()
	newQueue, newProcessor, wrapped, trace := config.Gears.NewQueue, config.Gears.NewProcessor, config.WrapHandler, config.Trace
	config.Reflector.IdleTimeout, config.Reflector.ListTimeout = -1, -1
	config.Gears.NewQueue = func(c deltafifo.Config[T]) informer.Queue[T] { return holdPops(l, newQueue, c) }
	config.Gears.NewProcessor = func() informer.Processor[T] { return holdDistribution(l, newProcessor(), trace) }
	config.WrapHandler = func(name string, h informer.ResourceEventHandler[T]) informer.ResourceEventHandler[T] {
		if wrapped != nil {
			h = wrapped(name, h)
		}
		return heldHandler[T]{l, name, h}
	}
	g.wire(G1, G2, G3, G4)
	return heldSource[T]{source, l}, config
}

// heldSource is a ListerWatcher whose watch events wait at G1.
type heldSource[T informer.Object] struct {
	informer.ListerWatcher[T]
	*line
}

func (s heldSource[T]) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error) {
	w, err := s.ListerWatcher.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &heldWatcher[T]{Watcher: w, line: newLine(ctx, s.gates, s.name), initial: opts.SendInitialEvents}, nil
}

// heldWatcher holds decoded changes at G1. Bookmarks, errors and the initial events of a streaming
// list pass there.
type heldWatcher[T informer.Object] struct {
	api.Watcher[T]
	*line
	initial bool // used by the one reader
}

func (w *heldWatcher[T]) Next() (api.WatchEvent[T], error) {
	event, err := w.Watcher.Next()
	if err != nil {
		return event, err
	}
	switch event.Type {
	case api.WatchAdded, api.WatchModified, api.WatchDeleted:
		if !w.initial {
			w.hold(Item{Gate: G1, Key: keyOf(event.Object), Event: string(event.Type)})
		}
	case api.WatchBookmark:
		w.initial = w.initial && !event.InitialEventsEnd
	}
	return event, nil
}

func (w *heldWatcher[T]) Stop() {
	w.end()
	w.Watcher.Stop()
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
