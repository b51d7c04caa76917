package garbagecollector

import (
	"context"
	"errors"
	"time"

	"orrery/examples/monitor"
	"orrery/examples/worker"
	"orrery/informer"
	"orrery/restclient/api"
	"orrery/wait"
)

// Controller is the garbage collector.
type Controller struct {
	config   Config
	graph    *graph
	monitors *monitor.Monitors
	// The keys of both queues are UIDs.
	attemptToDelete, attemptToOrphan *worker.Pool
}

// NewController returns a controller, which does nothing before RunWithin.
func NewController(config Config) (*Controller, error) {
	if config.Monitor.Discovery == nil || config.Monitor.Heads == nil {
		return nil, errors.New("a garbage collector needs discovery and a client for the heads of objects")
	}
	c := &Controller{config: config.withDefaults(), graph: &graph{nodes: map[string]*node{}}}
	watching := c.config.Monitor
	watching.Observe, watching.Vanished, watching.Refused = c.graph.observe, c.graph.vanish, c.config.Trace.Refused
	watching.Forget = func(r *monitor.Resource, object *api.PartialObjectMetadata) { c.graph.forget(r, object.UID) }
	watching.Discovered = func() { // the kind of an owner may have become known
		for _, uid := range c.graph.deletable() {
			c.attemptToDelete.Add(uid)
		}
	}
	c.monitors = monitor.New(watching)
	c.attemptToDelete = c.pool("garbage_collector_attempt_to_delete", c.deletePass, c.graph.deletable)
	c.attemptToOrphan = c.pool("garbage_collector_attempt_to_orphan", c.orphanPass, c.graph.orphaning)
	c.graph.attemptToDelete, c.graph.attemptToOrphan = c.attemptToDelete.Add, c.attemptToOrphan.Add
	return c, nil
}

// pool makes a queue with its workers, which begin when the graph is complete.
func (c *Controller) pool(name string, pass func(context.Context, string) (time.Duration, error), keys func() []string) *worker.Pool {
	config := c.config.Worker
	config.Name, config.Reconcile, config.Keys = name, pass, keys
	config.Synced = []informer.InformerSynced{c.monitors.Synced}
	return worker.New(config)
}

// RunWithin works until stop ends, and finishes what is in hand. When alive ends everything is cut short at once. The informers
// run as long as it does: a standby keeps no copy of the cluster. RunWithin may be called once.
func (c *Controller) RunWithin(stop, alive context.Context) {
	watching, end := context.WithCancel(alive)
	var monitors, pools wait.Group
	monitors.Start(func() { c.monitors.Run(watching) })
	pools.Start(func() { c.attemptToDelete.Run(stop, alive) })
	pools.Start(func() { c.attemptToOrphan.Run(stop, alive) })
	pools.Wait()
	end()
	monitors.Wait()
}

// Healthy returns an error if a pass does not end.
func (c *Controller) Healthy() error {
	return errors.Join(c.attemptToDelete.Healthy(), c.attemptToOrphan.Healthy())
}

// UpdateMetrics sets the gauges of the queues' metrics. Call it when they are read.
func (c *Controller) UpdateMetrics() {
	c.attemptToDelete.UpdateMetrics()
	c.attemptToOrphan.UpdateMetrics()
}
