package apps

import (
	"context"
	"errors"
	"time"

	"orrery/controller"
	"orrery/informer"
	"orrery/restclient/api"
)

// DeploymentController rolls deployments out.
type DeploymentController struct {
	// Pool has the queue and the workers. Run it.
	Pool *controller.Pool

	deployments Collection[*Deployment]
	sets        Collection[*ReplicaSet]
	pods        Collection[*Pod]
	trace       DeploymentTrace
}

// DeploymentConfig is what the controller needs. The collections are required; the zero value of
// everything else works.
type DeploymentConfig struct {
	Deployments Collection[*Deployment]
	ReplicaSets Collection[*ReplicaSet]
	// Pods are read, and not written: its Client may be nil.
	Pods Collection[*Pod]
	// Worker tunes queue and workers. Name, Reconcile, Keys and Synced are the controller's and are
	// overwritten.
	Worker controller.PoolConfig
	// Trace receives the events. Default: none.
	Trace *DeploymentTrace
}

// DeploymentTrace is a set of hooks, called on the goroutines of workers, several at a time. Each
// may be nil.
type DeploymentTrace struct {
	// Created is called after a new set was created, Scaled after a set got another number of
	// replicas.
	Created func(deployment *Deployment, set *ReplicaSet)
	Scaled  func(deployment *Deployment, set *ReplicaSet, to int)
}

// NewDeploymentController registers the controller's handlers. It fails if an informer has
// stopped.
func NewDeploymentController(config DeploymentConfig) (*DeploymentController, error) {
	c := &DeploymentController{deployments: config.Deployments, sets: config.ReplicaSets, pods: config.Pods}
	if config.Trace != nil {
		c.trace = *config.Trace
	}
	options := informer.HandlerOptions{Name: "deployment controller"}
	deployments, err1 := config.Deployments.Informer.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*Deployment]{
		AddFunc:    func(d *Deployment, _ bool) { c.enqueue(d) },
		UpdateFunc: func(_, d *Deployment) { c.enqueue(d) },
	}, options)
	owned := OwnedHandler[*ReplicaSet](c.deployments, c.enqueue)
	sets, err2 := config.ReplicaSets.Informer.AddEventHandlerWithOptions(owned, options)
	pods, err3 := config.Pods.Informer.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*Pod]{
		DeleteFunc: func(deleted informer.DeletedObject[*Pod]) { c.podGone(deleted.Object) },
	}, options)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	config.Worker.Name = "deployment"
	config.Worker.Reconcile = c.syncDeployment
	config.Worker.Keys = c.deployments.Keys
	config.Worker.Synced = []informer.InformerSynced{deployments.HasSynced, sets.HasSynced, pods.HasSynced}
	c.Pool = controller.NewPool(config.Worker)
	return c, nil
}

func (c *DeploymentController) enqueue(d *Deployment) { c.Pool.Add(d.Owner().Key()) }

// podGone queues deployments with the strategy Recreate, which wait for their last old pod to go.
// All others learn what they need from their sets.
func (c *DeploymentController) podGone(pod *Pod) {
	for _, set := range OwnersOf(&pod.ObjectMeta, c.sets) {
		for _, d := range OwnersOf(&set.ObjectMeta, c.deployments) {
			if d.Spec.Strategy.Type == Recreate {
				c.enqueue(d)
			}
		}
	}
}

// syncDeployment makes one pass over a deployment: a step, unless it is being deleted, and a
// report.
func (c *DeploymentController) syncDeployment(ctx context.Context, key string) (after time.Duration, err error) {
	d, err := c.deployments.ByKey(key)
	if api.IsNotFound(err) {
		return 0, nil
	}
	sets, err := Claim(ctx, d, c.deployments, c.sets.In(d.Namespace).List(), c.sets)
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
