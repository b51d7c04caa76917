package nsctl

import (
	"cmp"
	"context"
	"reflect"
	"sync"
	"time"

	"orrery/controller"
	"orrery/informer"
	"orrery/internal/hooks"
	"orrery/restclient/api"
)

// Controller watches namespaces and passes those that are being deleted to a [Deleter].
type Controller struct {
	lister      informer.Lister[*api.Namespace]
	pool        *controller.Pool
	deleter     Deleter
	gracePeriod time.Duration
	selection   Selection
	trace       *Trace

	mu        sync.Mutex
	deletions map[string]*deletion // namespaces that were seen terminating and are not gone, by UID
	working   bool                 // Run was called
}

// Config is what a controller needs. Informer and Deleter are required; the zero value of
// everything else works.
type Config struct {
	// Informer delivers the namespaces. Its owner runs it; the controller adds a handler and reads
	// its store. It should have a resync period of its own: without one handlers get no resyncs.
	Informer *informer.SharedIndexInformer[*api.Namespace]
	Deleter  Deleter // makes the passes

	Selection Selection // the controller neither touches nor reports other namespaces; default all
	// ResyncPeriod is how often every namespace is processed again without an event, in case one
	// was missed. Default 5 minutes, kube-controller-manager's --namespace-sync-period.
	ResyncPeriod time.Duration
	// GracePeriod is the time between the event of a deletion and the first pass. In a cluster with
	// several API servers, some may not know of the deletion yet and still let objects be created.
	// Default 5 seconds; negative is none.
	GracePeriod time.Duration
	// Pool configures the work queue and the workers, except Reconcile, Keys, Delay and Synced,
	// which are the controller's. Its Name is the handler's, too; default "namespace", upstream's.
	// Workers defaults to 10, kube-controller-manager's --concurrent-namespace-syncs. PassTimeout
	// defaults to 10 minutes: what a pass has deleted by then stays deleted.
	Pool  controller.PoolConfig
	Trace *Trace // default none
}

// NewController registers the controller's handlers with the informer. It fails if the informer has
// stopped. The defaults are those that Config documents.
func NewController(config Config) (*Controller, error) {
	c := &Controller{
		lister:      informer.NewLister(config.Informer.GetIndexer(), "namespaces"),
		deleter:     config.Deleter,
		gracePeriod: max(cmp.Or(config.GracePeriod, 5*time.Second), 0),
		selection:   config.Selection,
		trace:       config.Trace.complete(),
		deletions:   map[string]*deletion{},
	}
	pool := config.Pool
	pool.Name = cmp.Or(pool.Name, "namespace")
	pool.Reconcile, pool.Keys, pool.Delay = c.syncNamespace, c.begin, c.tooEarly
	pool.Synced = []informer.InformerSynced{config.Informer.HasSynced}
	pool.Workers = cmp.Or(pool.Workers, 10)
	pool.PassTimeout = cmp.Or(pool.PassTimeout, 10*time.Minute)
	pool.Trace = hooks.Join(pool.Trace, c.trace.passes())
	c.pool = controller.NewPool(pool)
	_, err := config.Informer.AddEventHandlerWithOptions(c.handler(), informer.HandlerOptions{
		Name:         pool.Name + " controller",
		ResyncPeriod: cmp.Or(config.ResyncPeriod, 5*time.Minute),
		Coalescing:   true, // only the newest state of a namespace matters
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Controller) handler() informer.ResourceEventHandler[*api.Namespace] {
	return informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc: func(namespace *api.Namespace, _ bool) { c.enqueue(namespace) },
		UpdateFunc: func(old, namespace *api.Namespace) {
			if old.UID != namespace.UID {
				c.forget(old)
			}
			resync := old.ResourceVersion == namespace.ResourceVersion
			if resync || !onlyStatusChanged(old, namespace) {
				c.enqueue(namespace)
			}
		},
		// A deleted namespace needs nothing more: its content was gone before it was.
		DeleteFunc: func(deleted informer.DeletedObject[*api.Namespace]) { c.forget(deleted.Object) },
	}
}

// onlyStatusChanged reports whether the namespace differs in nothing but its status, as after a
// report of this or of another controller. Such a change brings no look: it would be the echo of
// the pass that reported.
func onlyStatusChanged(old, namespace *api.Namespace) bool {
	unreported := *namespace
	unreported.Status = old.Status
	unreported.ResourceVersion, unreported.ManagedFields = old.ResourceVersion, old.ManagedFields
	return reflect.DeepEqual(&unreported, old)
}

// concerns reports whether a namespace is terminating and selected.
func (c *Controller) concerns(namespace *api.Namespace) bool {
	return namespace.DeletionTimestamp != nil && c.selection.Selects(namespace.Name)
}

// enqueue is the event handler: a namespace that is being deleted is processed after the grace
// period. Of several deadlines for one namespace the queue keeps the earliest.
func (c *Controller) enqueue(namespace *api.Namespace) {
	if c.concerns(namespace) && c.observe(namespace) {
		c.trace.Enqueued(namespace, c.gracePeriod)
		c.pool.AddAfter(namespace.Name, c.gracePeriod)
	}
}

// Run works until the context ends, then finishes what is queued and in progress, for at most the
// drain timeout, and returns. The informer must be running; Run waits for its store to be filled
// first. Run may be called once.
//
// The informer may run long before Run: a standby keeps its store and remembers when it saw which
// deletion, and Run begins with all namespaces that are terminating then.
func (c *Controller) Run(ctx context.Context) { c.RunWithin(ctx, context.WithoutCancel(ctx)) }

// RunWithin is Run for a controller that may lose its right to work, such as the leader of an
// election: it works until stop ends, and finishes what is in progress. When alive ends, everything
// is cut short at once.
func (c *Controller) RunWithin(stop, alive context.Context) { c.pool.Run(stop, alive) }

// Healthy returns an error if a pass has been running for twice its time limit; see
// [controller.Pool.Healthy].
func (c *Controller) Healthy() error { return c.pool.Healthy() }

// begin returns what was seen terminating until now; the handler queues what is seen from now on.
// In this order nothing is missed: the store has a namespace before the handler gets its event.
//
// Before, nothing is queued: no worker empties the queue of a standby, and the names of all
// namespaces that the leader deletes would pile up there.
func (c *Controller) begin() (names []string) {
	c.mu.Lock()
	c.working = true
	c.mu.Unlock()
	for _, namespace := range c.lister.ListFunc(c.concerns) {
		c.trace.Enqueued(namespace, c.unsettled(namespace))
		names = append(names, namespace.Name)
	}
	return names
}

// tooEarly returns what is left of the grace period of a namespace. A pass comes too early if it
// was planned for a former namespace of that name: it would look at the new one while servers still
// accept content in it.
func (c *Controller) tooEarly(name string) time.Duration {
	namespace, err := c.lister.Get(name)
	if err != nil || namespace.DeletionTimestamp == nil {
		return 0
	}
	return c.unsettled(namespace)
}

// syncNamespace makes one pass over the namespace if the store still has it. What needs more time
// is a [*ResourcesRemainingError], which says when to look again.
func (c *Controller) syncNamespace(ctx context.Context, name string) (after time.Duration, err error) {
	namespace, err := c.lister.Get(name)
	if err != nil || namespace.DeletionTimestamp == nil {
		return 0, nil // gone from the store, or a new one of that name
	}
	seen, known := c.beginPass(namespace)
	if !known {
		return 0, nil // a new one of that name since a moment ago; its event is still on the way
	}
	defer func() { c.endPass(namespace, err) }()
	return 0, c.deleter.Delete(ctx, name, seen)
}
