package controllers

import (
	"context"
	"strings"
	"time"

	"orrery/deltafifo"
	"orrery/examples/worker"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/gears"
	"orrery/internal/observe/debugserver"
	"orrery/internal/observe/events"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Shared is what the controllers of one process share. Client is required; the zero value of
// everything else works.
type Shared struct {
	// Client speaks to the API server. Controllers and informers share its connections, each with a
	// user agent of its own.
	Client *restclient.Client
	// QPS and Burst limit the requests of each controller, and those of the informers. 0: what
	// restclient.Config says.
	QPS   float32
	Burst int

	// Gears are the forms of the gears.
	Gears gears.Set
	// ResyncPeriod is how often handlers of informers are reminded of every object unless they ask
	// for another period. Default 12 hours, kube-controller-manager's --min-resync-period.
	ResyncPeriod time.Duration
	// DrainTimeout is how long a controller that is stopped may take for what it has in hand.
	// Default 20 seconds.
	DrainTimeout time.Duration
	// DryRun: nothing is to be written.
	DryRun bool
	// Events: what happens is recorded as Events of the cluster.
	Events bool

	// Logger, Metrics and Server show what happens. Default: nothing does.
	Logger  *logs.Logger
	Metrics *metrics.Metrics
	Server  *debugserver.Server
	// Worked is called after each pass of each controller.
	Worked func()
}

const (
	defaultResync = 12 * time.Hour
	defaultDrain  = 20 * time.Second
)

// ControllerContext is what one controller gets: what all of them share, and what is its own.
type ControllerContext struct {
	Shared
	// Name is the controller's.
	Name string
	// Client has the controller's user agent and rate limit. Shared.Client is the process's.
	Client *restclient.Client
	// AvailableResources are those that the server has, of those that controllers need.
	AvailableResources *AvailableResources

	manager  *Manager
	recorder func() events.EventRecorder
}

// InformerFor returns the informer of all objects of a resource, the same one for every controller
// that asks, with the gears and the hooks of this process. It strips managed fields, which no
// controller reads; the server keeps those of an object that is written back without any. head
// gives access to the head of an object.
//
// It is for initialisers: the informer runs when all controllers have been set up.
func InformerFor[T informer.Object](c ControllerContext, resource api.GroupVersionResource, head func(T) *api.ObjectMeta) *informer.SharedIndexInformer[T] {
	m := c.manager
	m.uses(c.Name, resource)
	name := resourceName(resource)
	return informer.InformerFor(&m.informers, name, func(time.Duration) *informer.SharedIndexInformer[T] {
		made := informer.NewSharedIndexInformer(restclient.Typed[T](m.informerClient, resource, ""), InformerConfig(c, name, resource, head))
		m.watch(watched{name: name, synced: made.HasSynced, resource: resource, addHeads: addHeads(made, head)})
		if c.Metrics != nil {
			c.Metrics.Informer(informerID(resource), made.Snapshot)
		}
		c.Show("informer/"+name, func() any { return made.Snapshot() })
		c.Show("fifo/"+name, func() any { return made.QueueSnapshot() })
		c.Show("store/"+name, func() any { return made.StoreSnapshot() })
		return made
	})
}

// SharedHeads adds a handler of heads to the informer that another controller has of a resource; ok is false if there is none. The
// informer must be running. leave removes the handler and returns when its last callback has.
func SharedHeads(c ControllerContext, resource api.GroupVersionResource, handler informer.ResourceEventHandler[*api.PartialObjectMetadata]) (synced informer.InformerSynced, leave func(), ok bool) {
	shared, ok := c.manager.informerOf(resource)
	if !ok {
		return nil, nil, false
	}
	return shared.addHeads(handler)
}

// addHeads returns the function that adds a handler of heads to an informer of whole objects.
func addHeads[T informer.Object](made *informer.SharedIndexInformer[T], head func(T) *api.ObjectMeta) func(informer.ResourceEventHandler[*api.PartialObjectMetadata]) (informer.InformerSynced, func(), bool) {
	headOf := func(object T) *api.PartialObjectMetadata {
		return &api.PartialObjectMetadata{ObjectMeta: *head(object)}
	}
	return func(handler informer.ResourceEventHandler[*api.PartialObjectMetadata]) (informer.InformerSynced, func(), bool) {
		registration, err := made.AddEventHandler(informer.ResourceEventHandlerFuncs[T]{
			AddFunc:    func(object T, initial bool) { handler.OnAdd(headOf(object), initial) },
			UpdateFunc: func(old, object T) { handler.OnUpdate(headOf(old), headOf(object)) },
			DeleteFunc: func(deleted informer.DeletedObject[T]) {
				handler.OnDelete(informer.DeletedObject[*api.PartialObjectMetadata]{
					Key: deleted.Key, Object: headOf(deleted.Object), FinalStateUnknown: deleted.FinalStateUnknown,
				})
			},
		})
		if err != nil { // the informer has stopped
			return nil, nil, false
		}
		leave := func() { _ = made.ShutDownEventHandler(context.Background(), registration) }
		return registration.HasSynced, leave, true
	}
}

// InformerConfig returns the configuration of [InformerFor] under another name, for a controller that has informers of its own
// because they come and go while it works.
func InformerConfig[T informer.Object](c ControllerContext, name string, resource api.GroupVersionResource, head func(T) *api.ObjectMeta) informer.Config[T] {
	traces := []*reflector.Trace{c.Logger.Reflector(name), c.manager.availability(resource)}
	var queueTrace *deltafifo.Trace[T]
	if c.Metrics != nil {
		traces = append(traces, c.Metrics.Reflector(name))
		queueTrace = metrics.FIFO[T](c.Metrics, informerID(resource))
	}
	return informer.Config[T]{
		Name:         name,
		Gears:        gears.Informer[T](c.Gears),
		ResyncPeriod: c.ResyncPeriod,
		Indexers:     indexer.Indexers[T]{informer.NamespaceIndex: namespaceOf[T]},
		Transform:    informer.StripManagedFields(head),
		Reflector:    reflector.Config[T]{Trace: reflector.JoinTraces(traces...)},
		Trace:        c.Logger.Informer(),
		QueueTrace:   queueTrace,
	}
}

// informerID is how Kubernetes' metrics name an informer.
func informerID(resource api.GroupVersionResource) metrics.InformerID {
	return metrics.InformerID{Name: "orrery", Group: resource.Group, Version: resource.Version, Resource: resource.Resource}
}

// namespaceOf is informer.MetaNamespaceIndexFunc that spares the objects of the cluster an entry.
func namespaceOf[T informer.Object](obj T) ([]string, error) {
	if obj.GetNamespace() == "" {
		return nil, nil
	}
	return informer.MetaNamespaceIndexFunc(obj)
}

// resourceName is how kubectl calls a resource: "pods", "deployments.apps".
func resourceName(resource api.GroupVersionResource) string {
	return strings.TrimSuffix(resource.GroupResource(), ".")
}

// Show makes /debug/orrery show what the function returns, which may be called from any goroutine,
// under this name.
func (c ControllerContext) Show(name string, snapshot func() any) {
	if c.Server != nil {
		c.Server.Show(name, snapshot)
	}
}

// QueueTrace returns hooks for the controller's work queue, which log.
func (c ControllerContext) QueueTrace(queueName string) *queue.Trace[string] {
	return c.Logger.Queue(queueName, c.Name)
}

// WorkerConfig returns the configuration of a worker pool with the gears and the hooks of this
// process.
func (c ControllerContext) WorkerConfig(queueName string) worker.Config {
	return worker.Config{
		Name: queueName, DrainTimeout: c.DrainTimeout, NewQueue: c.Gears.NewQueue,
		QueueTrace: c.QueueTrace(queueName), QueueMetrics: c.QueueMetrics(), Trace: c.PassTrace(),
	}
}

// PassTrace returns hooks for the controller's passes, which log and count.
func (c ControllerContext) PassTrace() *worker.Trace {
	log := c.Logger.Controller(c.Name)
	count := func(string, time.Duration, int, time.Duration, error) {}
	if c.Metrics != nil {
		count = c.Metrics.Controller(c.Name).PassDone
	}
	return &worker.Trace{
		PassContext: log.PassContext,
		PassStarted: log.PassStarted,
		PassDone: func(key string, took time.Duration, failures int, after time.Duration, err error) {
			log.PassDone(key, took, failures, after, err)
			count(key, took, failures, after, err)
			c.Worked()
		},
	}
}

// QueueMetrics makes the metrics of the controller's work queue. nil: there are none.
func (c ControllerContext) QueueMetrics() queue.MetricsProvider {
	if c.Metrics == nil {
		return nil
	}
	return c.Metrics.Queues()
}

// Recorder records Events in the controller's name, or drops them if none are to be recorded.
func (c ControllerContext) Recorder() events.EventRecorder { return c.recorder() }
