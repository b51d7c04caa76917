package manager

import (
	"context"
	"errors"
	"time"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Shared is shared by the controllers of one process. Client is required; the zero value of every
// other field works.
type Shared struct {
	// Client is the API client. Controllers and informers share its connections, each with its own
	// user agent.
	Client *restclient.Client
	// QPS and Burst limit the requests of each controller, and those of the informers. 0: the
	// default of restclient.Config.
	QPS   float32
	Burst int

	// Gears are the forms of the gears.
	Gears gears.Set
	// DrainTimeout is how long a stopped controller may finish its work in progress. Default 20
	// seconds.
	DrainTimeout time.Duration
	// DryRun: nothing is written.
	DryRun bool
	// Events: Events are recorded in the cluster.
	Events bool

	// Logger, Metrics and Server observe the controllers. Nil: not observed.
	Logger  *logs.Logger
	Metrics *metrics.Metrics
	Server  *web.DebugServer
	// Recording records what the gears do. Nil: nothing is recorded.
	Recording *trace.Recorder

	// Lead calls work while this process may work, as controller.Config.Lead does. The informers run
	// already. Nil: it may work at once.
	Lead func(ctx context.Context, work func(alive context.Context)) error
}

const (
	// resyncPeriod is that of handlers that request no other, as kube-controller-manager's
	// --min-resync-period.
	resyncPeriod = 12 * time.Hour
	defaultDrain = 20 * time.Second
)

// ControllerContext is the environment of one controller: the shared part and its own.
type ControllerContext struct {
	Shared
	// Name is the name of the controller.
	Name string
	// Client has the controller's own user agent and rate limit, unlike Shared.Client.
	Client *restclient.Client

	manager  *Manager
	recorder func() events.EventRecorder
}

// InformerFor returns the informer of all objects of a resource, the same for every controller,
// with the gears and hooks of this process. It strips managed fields, which no controller reads;
// the server preserves them when an object is written back without. head returns the metadata of an
// object.
//
// Call it in an initializer: the informer starts after all controllers have been set up.
func InformerFor[T informer.Object](c ControllerContext, resource api.GroupVersionResource,
	head func(T) *api.ObjectMeta) *informer.SharedIndexInformer[T] {
	m := c.manager
	name := resource.TypeName()
	newInformer := func(time.Duration) *informer.SharedIndexInformer[T] {
		objects := restclient.Typed[T](m.controllers.Config().Client, resource, "")
		made := informer.NewSharedIndexInformer(objects, InformerConfig(c, name, resource, head))
		m.watch(name, made.HasSynced)
		if c.Metrics != nil {
			c.Metrics.Informer(informerID(resource), made.Snapshot)
		}
		c.Show("informer/"+name, func() any { return made.Snapshot() })
		c.Show("fifo/"+name, func() any { return made.QueueSnapshot() })
		c.Show("store/"+name, func() any { return made.StoreSnapshot() })
		return made
	}
	return informer.InformerFor(m.controllers.Informers(), name, newInformer)
}

// InformerConfig returns the configuration of [InformerFor] under another name, for a controller
// with informers of its own that start and stop while it works.
func InformerConfig[T informer.Object](c ControllerContext, name string, resource api.GroupVersionResource,
	head func(T) *api.ObjectMeta) informer.Config[T] {
	traces := []*reflector.Trace{c.Logger.Reflector(name), c.Recording.Reflector(name)}
	var queueTrace *deltafifo.Trace[T]
	if c.Metrics != nil {
		traces = append(traces, c.Metrics.Reflector(name))
		queueTrace = metrics.FIFO[T](c.Metrics, informerID(resource))
	}
	return informer.Config[T]{
		Name:         name,
		Gears:        gears.Informer[T](c.Gears),
		ResyncPeriod: resyncPeriod,
		Indexers:     indexer.Indexers[T]{informer.NamespaceIndex: namespaceOf[T]},
		Transform:    informer.StripManagedFields(head),
		Reflector:    reflector.Config[T]{Trace: reflector.JoinTraces(traces...)},
		Trace:        informer.JoinTraces(c.Logger.Informer(), c.Recording.Informer(name)),
		QueueTrace:   deltafifo.JoinTraces(queueTrace, trace.FIFO[T](c.Recording, name)),
		StoreTrace:   c.Recording.Store(name),
	}
}

// informerID returns the name of an informer in Kubernetes' metrics.
func informerID(resource api.GroupVersionResource) metrics.InformerID {
	return metrics.InformerID{Name: "orrery", Group: resource.Group, Version: resource.Version,
		Resource: resource.Resource}
}

// namespaceOf is informer.MetaNamespaceIndexFunc without an entry for cluster-scoped objects.
func namespaceOf[T informer.Object](obj T) ([]string, error) {
	if obj.GetNamespace() == "" {
		return nil, nil
	}
	return informer.MetaNamespaceIndexFunc(obj)
}

// Show adds an entry to /debug/orrery: the result of the function, which may be called from any
// goroutine.
func (c ControllerContext) Show(name string, snapshot func() any) {
	if c.Server != nil {
		c.Server.Show(name, snapshot)
	}
}

// WorkerConfig returns the configuration of a worker pool with the gears and hooks of this process.
func (c ControllerContext) WorkerConfig(queueName string) controller.PoolConfig {
	return controller.PoolConfig{
		Name: queueName, DrainTimeout: c.DrainTimeout, NewQueue: c.Gears.NewQueue,
		QueueTrace: c.Recording.Queue(queueName), QueueMetrics: c.QueueMetrics(), Trace: c.passTrace(),
	}
}

// passTrace returns hooks that log and count the controller's passes.
func (c ControllerContext) passTrace() *controller.PoolTrace {
	log := c.Logger.Controller(c.Name)
	count := func(string, time.Duration, int, time.Duration, error) {}
	if c.Metrics != nil {
		count = c.Metrics.Controller(c.Name).PassDone
	}
	return &controller.PoolTrace{
		PassContext: log.PassContext,
		PassStarted: log.PassStarted,
		PassDone: func(key string, took time.Duration, failures int, after time.Duration, err error) {
			log.PassDone(key, took, failures, after, err)
			count(key, took, failures, after, err)
			c.PassDone(key, err)
		},
	}
}

// PassDone must be called after each pass. The hooks of passTrace do.
func (c ControllerContext) PassDone(key string, err error) {
	if errors.Is(err, controller.ErrCutShort) {
		c.manager.leave(c.Name + " " + key)
	}
}

// QueueMetrics returns the metrics of the controller's work queue; nil if there are none.
func (c ControllerContext) QueueMetrics() queue.MetricsProvider {
	if c.Metrics == nil {
		return nil
	}
	return c.Metrics.Queues()
}

// Recorder returns the controller's recorder of Events, which drops them if Events are off.
func (c ControllerContext) Recorder() events.EventRecorder { return c.recorder() }
