package apps

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"orrery/controller"
	"orrery/informer"
	"orrery/restclient/api"
)

// ReplicaSetController creates and deletes the pods of replica sets.
type ReplicaSetController struct {
	// Pool has the queue and the workers. Run it.
	Pool *controller.Pool

	sets         Collection[*ReplicaSet]
	pods         Collection[*Pod]
	trace        ReplicaSetTrace
	expectations *expectations
	// satisfied is the method of expectations. A test replaces it, to show what happens without
	// them.
	satisfied func(set string) bool
}

// ReplicaSetConfig is what the controller needs. The collections are required; the zero value of
// everything else works.
type ReplicaSetConfig struct {
	ReplicaSets Collection[*ReplicaSet]
	Pods        Collection[*Pod]
	// Worker tunes queue and workers. Name, Reconcile, Keys and Synced are the controller's and are
	// overwritten.
	Worker controller.PoolConfig
	// Trace receives the events. Default: none.
	Trace *ReplicaSetTrace
}

// ReplicaSetTrace is a set of hooks, called on the goroutines of workers, several at a time. Each
// may be nil.
type ReplicaSetTrace struct {
	// Created and Deleted are called after a request about a pod; err is non-nil if it failed.
	Created func(set *ReplicaSet, pod string, err error)
	Deleted func(set *ReplicaSet, pod string, err error)
}

// NewReplicaSetController registers the controller's handlers. It fails if an informer has stopped.
func NewReplicaSetController(config ReplicaSetConfig) (*ReplicaSetController, error) {
	c := &ReplicaSetController{sets: config.ReplicaSets, pods: config.Pods, expectations: newExpectations()}
	c.satisfied = c.expectations.satisfied
	if config.Trace != nil {
		c.trace = *config.Trace
	}
	options := informer.HandlerOptions{Name: "replicaset controller"}
	sets, err1 := config.ReplicaSets.Informer.AddEventHandlerWithOptions(c.setHandler(), options)
	pods, err2 := config.Pods.Informer.AddEventHandlerWithOptions(c.podHandler(), options)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	config.Worker.Name = "replicaset"
	config.Worker.Reconcile = c.syncReplicaSet
	config.Worker.Keys = c.sets.Keys
	config.Worker.Synced = []informer.InformerSynced{sets.HasSynced, pods.HasSynced}
	c.Pool = controller.NewPool(config.Worker)
	return c, nil
}

func (c *ReplicaSetController) enqueue(sets ...*ReplicaSet) {
	for _, set := range sets {
		c.Pool.Add(set.Owner().Key())
	}
}

func (c *ReplicaSetController) setHandler() informer.ResourceEventHandler[*ReplicaSet] {
	return informer.ResourceEventHandlerFuncs[*ReplicaSet]{
		AddFunc: func(set *ReplicaSet, _ bool) { c.enqueue(set) },
		UpdateFunc: func(old, set *ReplicaSet) {
			if old.UID != set.UID {
				c.expectations.forget(old.UID)
			}
			c.enqueue(set)
		},
		DeleteFunc: func(deleted informer.DeletedObject[*ReplicaSet]) { c.expectations.forget(deleted.Object.UID) },
	}
}

func (c *ReplicaSetController) podHandler() informer.ResourceEventHandler[*Pod] {
	return informer.ResourceEventHandlerFuncs[*Pod]{
		AddFunc: func(pod *Pod, _ bool) {
			if owner := ControllerOf(&pod.ObjectMeta); owner != nil {
				c.expectations.creationsObserved(owner.UID, 1)
			}
			if pod.DeletionTimestamp != nil { // it was created and deleted while the watch was down
				c.podDeleted(pod)
				return
			}
			c.enqueue(OwnersOf(&pod.ObjectMeta, c.sets)...)
		},
		UpdateFunc: c.podUpdated,
		DeleteFunc: func(deleted informer.DeletedObject[*Pod]) { c.podDeleted(deleted.Object) },
	}
}

func (c *ReplicaSetController) podUpdated(old, pod *Pod) {
	switch {
	case old.UID != pod.UID: // deleted and created again while the watch was down
		c.podDeleted(old)
	case LostController(&old.ObjectMeta, &pod.ObjectMeta):
		c.enqueue(OwnersOf(&old.ObjectMeta, c.sets)...)
	}
	if pod.DeletionTimestamp != nil {
		c.podDeleted(pod)
		return
	}
	c.enqueue(OwnersOf(&pod.ObjectMeta, c.sets)...)
}

// podDeleted is called when the deletion of a pod begins, which is what counts here, and again when
// the pod is gone.
func (c *ReplicaSetController) podDeleted(pod *Pod) {
	if waiting := c.expectations.deletionObserved(pod.UID); waiting != "" {
		c.Pool.Add(waiting)
	}
	if ControllerOf(&pod.ObjectMeta) != nil { // no set loses an orphan
		c.enqueue(OwnersOf(&pod.ObjectMeta, c.sets)...)
	}
}

// syncReplicaSet makes one pass over a set.
func (c *ReplicaSetController) syncReplicaSet(ctx context.Context, key string) (after time.Duration, err error) {
	set, err := c.sets.ByKey(key)
	if api.IsNotFound(err) {
		return 0, nil
	}
	// Ask before the pods are read from the store: by then the store has every event that lowered
	// an expectation.
	upToDate := c.satisfied(set.UID)
	active := slices.DeleteFunc(c.pods.In(set.Namespace).List(), func(pod *Pod) bool { return !pod.IsActive() })
	pods, err := Claim(ctx, set, c.sets, active, c.pods)
	if err != nil {
		return 0, err
	}
	var manageErr error
	if upToDate && set.DeletionTimestamp == nil {
		manageErr = c.manageReplicas(ctx, set, pods)
	}
	status, after := calculateStatus(set, pods, manageErr, time.Now())
	if !upToDate {
		status.ObservedGeneration = set.Status.ObservedGeneration // this generation has not been acted on
		after = cmp.Or(after, expectationTimeout)                 // in case the event is lost
	}
	return after, errors.Join(manageErr, c.updateStatus(ctx, set, status))
}
