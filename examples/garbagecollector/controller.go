package garbagecollector

import (
	"context"
	"errors"
	"time"

	"orrery/examples/worker"
	"orrery/informer"
	"orrery/wait"
)

// Controller is the garbage collector.
type Controller struct {
	config   Config
	graph    *graph
	monitors *monitors

	attemptToDelete, attemptToOrphan *worker.Pool
}

// NewController checks the configuration and returns a controller, which does nothing before RunWithin.
func NewController(config Config) (*Controller, error) {
	if config.Discovery == nil || config.Heads == nil {
		return nil, errors.New("a garbage collector needs discovery and a client for heads of objects")
	}
	c := &Controller{config: config.withDefaults(), graph: &graph{nodes: map[string]*node{}}}
	c.monitors = newMonitors(c.config, c.graph)
	c.attemptToDelete = c.pool("garbage_collector_attempt_to_delete", c.deletePass, c.graph.deletable)
	c.attemptToOrphan = c.pool("garbage_collector_attempt_to_orphan", c.orphanPass, c.graph.orphans)
	c.graph.attemptToDelete, c.graph.attemptToOrphan = c.attemptToDelete.Add, c.attemptToOrphan.Add
	return c, nil
}

// pool returns the workers of a queue of UIDs. Nothing is queued, and nothing is done, before the graph is complete.
func (c *Controller) pool(name string, pass func(context.Context, string) (time.Duration, error), keys func() []string) *worker.Pool {
	config := c.config.Worker
	config.Name, config.Reconcile, config.Keys = name, pass, keys
	config.Synced = []informer.InformerSynced{c.monitors.synced}
	return worker.New(config)
}

// RunWithin works until stop ends, and finishes what is in hand. When alive ends everything is cut short at once. It starts the
// informers, and they have ended when it returns: a standby keeps no copy of the cluster. RunWithin may be called once.
func (c *Controller) RunWithin(stop, alive context.Context) {
	watching, end := context.WithCancel(alive)
	var monitors, pools wait.Group
	monitors.Start(func() { c.monitors.run(watching) })
	for _, pool := range []*worker.Pool{c.attemptToDelete, c.attemptToOrphan} {
		pools.Start(func() { pool.Run(stop, alive) })
	}
	pools.Wait()
	end()
	monitors.Wait()
}

// Pools returns the queues with their workers, to look at: attemptToDelete and attemptToOrphan.
func (c *Controller) Pools() []*worker.Pool {
	return []*worker.Pool{c.attemptToDelete, c.attemptToOrphan}
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
