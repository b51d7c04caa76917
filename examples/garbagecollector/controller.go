package garbagecollector

import (
	"cmp"
	"context"
	"time"

	"orrery/controller"
	"orrery/informer"
	"orrery/restclient/api"
	"orrery/wait"
)

// Controller is the garbage collector.
type Controller struct {
	config   Config
	graph    *graph
	monitors *monitors
	passes   *controller.Pool // the keys are UIDs
}

// NewController returns a controller, which does nothing before RunWithin.
func NewController(config Config) *Controller {
	config.Trace = cmp.Or(config.Trace, &Trace{})
	config.DiscoveryPeriod = cmp.Or(config.DiscoveryPeriod, 30*time.Second)
	if config.Informer == nil {
		config.Informer = func(api.GroupVersionResource) informer.Config[*api.PartialObjectMetadata] {
			return informer.Config[*api.PartialObjectMetadata]{}
		}
	}
	c := &Controller{config: config, graph: &graph{nodes: map[string]*node{}}}
	c.monitors = &monitors{
		config: config, graph: c.graph,
		changed: make(chan struct{}, 1), watched: map[api.GroupVersionResource]*monitor{},
	}
	passes := config.Worker
	passes.Workers = cmp.Or(passes.Workers, 20)
	passes.Name, passes.Keys = "garbage_collector", c.graph.pending
	passes.Synced = []informer.InformerSynced{c.monitors.hasSynced}
	passes.Reconcile = func(ctx context.Context, uid string) (time.Duration, error) {
		after, err := c.pass(ctx, uid)
		if !api.IsForbidden(err) {
			return after, err
		}
		if hook := c.config.Trace.Forbidden; hook != nil {
			hook(err)
		}
		return time.Minute, nil
	}
	c.passes = controller.NewPool(passes)
	c.graph.queue = c.passes.Add
	return c
}

// RunWithin works until stop ends, and then finishes the passes in hand. When alive ends it returns
// at once. The informers run only as long as RunWithin does: a standby keeps no copy of the
// cluster. RunWithin may be called once.
func (c *Controller) RunWithin(stop, alive context.Context) {
	watching, end := context.WithCancel(alive)
	var monitors wait.Group
	monitors.Start(func() { c.monitors.run(watching) })
	c.passes.Run(stop, alive)
	end()
	monitors.Wait()
}

// Healthy returns an error if a pass does not end.
func (c *Controller) Healthy() error { return c.passes.Healthy() }

// UpdateMetrics sets the gauges of the queue's metrics. Call it before they are read.
func (c *Controller) UpdateMetrics() { c.passes.UpdateMetrics() }

// Config is what a controller needs. Discovery and Heads are required; the zero value of everything
// else works.
type Config struct {
	// Discovery returns the types of the server. *discovery.Client satisfies it. Set its
	// OnlyWhenReady, or a server that is starting seems to have no custom resources.
	Discovery Discovery
	// DiscoveryPeriod is the longest time between two requests for the types. Default 30 seconds.
	DiscoveryPeriod time.Duration
	// Heads returns the client of a type in a namespace, or in all namespaces (""):
	// restclient.Metadata.
	Heads func(resource api.GroupVersionResource, namespace string) Heads
	// Informer returns the configuration of the informer of a type: its gears and hooks. Default:
	// the textbook's gears, no hooks.
	Informer func(resource api.GroupVersionResource) informer.Config[*api.PartialObjectMetadata]
	// Worker tunes the queue and its workers, 20 by default. The controller overwrites Name,
	// Reconcile, Keys and Synced.
	Worker controller.PoolConfig
	// Trace is called as things happen. Default: none.
	Trace *Trace
}

// Trace is a set of hooks, called on the goroutines of workers and informers. Each may be nil.
type Trace struct {
	// Wrote: an object was written; what says how, such as "deleted (Background)".
	Wrote func(object api.ObjectReference, what string)
	// InvalidNamespace: an object names an owner in another namespace, or is cluster-scoped and
	// names an owner in a namespace. Kubernetes records an Event with the reason
	// OwnerRefInvalidNamespace.
	InvalidNamespace func(object api.ObjectReference, owner api.OwnerReference)
	// Forbidden: a pass lacks the right to get, patch or delete an object, and is repeated after a
	// minute. err has the server's answer.
	Forbidden func(err error)
	// Refused: the server refuses to list a type or, with a zero resource, discovery has failed.
	Refused func(resource api.GroupVersionResource, err error)
}
