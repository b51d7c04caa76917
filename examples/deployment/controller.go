package deployment

import (
	"context"
	"errors"
	"time"

	"orrery/controller"
	"orrery/examples/apps"
	"orrery/informer"
	"orrery/restclient/api"
)

// Controller rolls deployments out.
type Controller struct {
	deployments apps.Collection[*apps.Deployment]
	sets        apps.Collection[*apps.ReplicaSet]
	pods        apps.Collection[*apps.Pod]
	pool        *controller.Pool
	trace       Trace
	written     apps.Written
}

// Config is what a controller needs. The collections are required; the zero value of everything
// else works.
type Config struct {
	Deployments apps.Collection[*apps.Deployment]
	ReplicaSets apps.Collection[*apps.ReplicaSet]
	// Pods are read, and not written: its Client may be nil.
	Pods apps.Collection[*apps.Pod]
	// Worker tunes queue and workers. Name, Reconcile, Keys and Synced are the controller's and are
	// overwritten.
	Worker controller.PoolConfig
	// Trace receives the events. Default: none.
	Trace *Trace
}

// Trace is a set of hooks, called on the goroutines of workers, several at a time. Each may be nil.
type Trace struct {
	// Created is called after a new set was created, Scaled after a set got another number of
	// replicas.
	Created func(deployment *apps.Deployment, set *apps.ReplicaSet)
	Scaled  func(deployment *apps.Deployment, set *apps.ReplicaSet, to int)
}

// NewController registers the controller's handlers. It fails if an informer has stopped.
func NewController(config Config) (*Controller, error) {
	c := &Controller{deployments: config.Deployments, sets: config.ReplicaSets, pods: config.Pods}
	if config.Trace != nil {
		c.trace = *config.Trace
	}
	deployments, err1 := config.Deployments.Informer.AddEventHandler(informer.ResourceEventHandlerFuncs[*apps.Deployment]{
		AddFunc:    func(d *apps.Deployment, _ bool) { c.enqueue(d) },
		UpdateFunc: func(_, d *apps.Deployment) { c.enqueue(d) },
		DeleteFunc: func(deleted informer.DeletedObject[*apps.Deployment]) { c.written.Forget(deleted.Object.UID) },
	})
	sets, err2 := config.ReplicaSets.Informer.AddEventHandler(apps.OwnedHandler[*apps.ReplicaSet](c.deployments, c.enqueue))
	pods, err3 := config.Pods.Informer.AddEventHandler(informer.ResourceEventHandlerFuncs[*apps.Pod]{
		DeleteFunc: func(deleted informer.DeletedObject[*apps.Pod]) { c.podGone(deleted.Object) },
	})
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	config.Worker.Name = "deployment"
	config.Worker.Reconcile = c.syncDeployment
	config.Worker.Keys = c.deployments.Keys
	config.Worker.Synced = []informer.InformerSynced{deployments.HasSynced, sets.HasSynced, pods.HasSynced}
	c.pool = controller.NewPool(config.Worker)
	return c, nil
}

// Pool returns the controller's queue and workers, for inspection.
func (c *Controller) Pool() *controller.Pool { return c.pool }

// RunWithin works until stop ends, and finishes what is in hand. When alive ends everything is cut
// short at once.
func (c *Controller) RunWithin(stop, alive context.Context) { c.pool.Run(stop, alive) }

func (c *Controller) enqueue(d *apps.Deployment) { c.pool.Add(d.Owner().Key()) }

// podGone queues deployments with the strategy Recreate, which wait for their last old pod to go.
// All others learn what they need from their sets.
func (c *Controller) podGone(pod *apps.Pod) {
	for _, set := range apps.OwnersOf(&pod.ObjectMeta, c.sets) {
		for _, d := range apps.OwnersOf(&set.ObjectMeta, c.deployments) {
			if d.Spec.Strategy.Type == apps.Recreate {
				c.enqueue(d)
			}
		}
	}
}

// syncDeployment makes one pass over a deployment: a step, and a report.
func (c *Controller) syncDeployment(ctx context.Context, key string) (after time.Duration, err error) {
	d, err := c.deployments.ByKey(key)
	if api.IsNotFound(err) {
		return 0, nil
	}
	if c.written.Behind(d.Meta()) {
		return apps.Timeout, nil // the event of that write queues the deployment again; the timeout is in case it is lost
	}
	sets, err := apps.Claim(ctx, d, c.deployments, c.sets.In(d.Namespace).List(), c.sets)
	if err != nil {
		return 0, err
	}
	p := newPass(c, d, sets)
	if d.DeletionTimestamp == nil {
		err = p.step(ctx)
	}
	after, reportErr := p.report(ctx)
	return after, errors.Join(err, reportErr)
}
