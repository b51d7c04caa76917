package gate

import (
	"context"
	"net/http"
	"path"
	"regexp"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/internal/observe/trace"
	"orrery/queue"
	"orrery/restclient"
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
	newQueue := config.Gears.NewQueue
	config.Reflector.IdleTimeout, config.Reflector.ListTimeout = -1, -1
	config.Gears.NewQueue = func(c deltafifo.Config[T]) informer.Queue[T] { return holdPops(l, newQueue, c) }
	config.WrapHandler = func(name string, h informer.ResourceEventHandler[T]) informer.ResourceEventHandler[T] {
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
		return &heldQueue{newQueue(limiter, config), newLine(g, name)}
	}
}

type heldQueue struct {
	queue.ObservableInterface[string]
	*line
}

func (q *heldQueue) Get() (key string, shutdown bool) {
	key, shutdown = q.ObservableInterface.Get()
	if !shutdown {
		q.hold(Item{Gate: G5, Key: key, Failures: q.NumRequeues(key)})
	}
	return key, shutdown
}

func (q *heldQueue) Done(key string) {
	q.hold(Item{Gate: G7, Key: key, Failures: q.NumRequeues(key)})
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

// HoldRequests returns the configuration of a client whose requests wait at G6, each attempt of
// them, without a time limit. Discovery passes, which has a time limit of its own.
func HoldRequests(g *Gates, config restclient.Config) restclient.Config {
	if g == nil {
		return config
	}
	g.wire(G6)
	wrapped := config.WrapTransport
	config.Timeout, config.SilenceTimeout = -1, -1
	config.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		if wrapped != nil {
			next = wrapped(next)
		}
		return heldTransport{next, g}
	}
	return config
}

type heldTransport struct {
	http.RoundTripper
	gates *Gates
}

func (t heldTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if item, ok := itemOf(request); ok {
		_ = t.gates.Wait(request.Context(), item) // the next transport notices the end of the context
	}
	return t.RoundTripper.RoundTrip(request)
}

// resourcePath has the namespace, the resource, the name and the subresource of a request as
// groups.
var resourcePath = regexp.MustCompile(
	`^/(?:api|apis/[^/]+)/[^/]+/(?:namespaces/([^/]+)/)??([^/]+)(?:/([^/]+))?(?:/(status|finalize))?$`)

// verbs are the verbs of Kubernetes by method.
var verbs = map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}

// itemOf describes a request; ok is false if it is about no resource.
func itemOf(request *http.Request) (item Item, ok bool) {
	parts := resourcePath.FindStringSubmatch(request.URL.Path)
	if parts == nil {
		return item, false
	}
	item = Item{Gate: G6, Verb: verbs[request.Method], Resource: parts[2], Key: path.Join(parts[1], parts[3])}
	switch {
	case parts[3] != "":
	case request.URL.Query().Has("watch"):
		item.Verb = "watch"
	case item.Verb == "get":
		item.Verb = "list"
	case item.Verb == "delete":
		item.Verb = "deletecollection"
	}
	return item, true
}
