package nsctl

import (
	"cmp"
	"context"
	"reflect"
	"sync"
	"time"

	"orrery/informer"
	"orrery/queue"
	"orrery/restclient/api"
	"orrery/wait"
)

// Controller watches namespaces and passes those that are being deleted to a [Deleter].
type Controller struct {
	informer    *informer.SharedIndexInformer[*api.Namespace]
	lister      informer.Lister[*api.Namespace]
	queue       queue.ObservableInterface[string]
	deleter     Deleter
	gracePeriod time.Duration
	workers     int
	drain       time.Duration
	passTimeout time.Duration // 0 is none
	selection   Selection
	trace       *Trace

	mu        sync.Mutex
	active    map[string]time.Time // when the pass of a namespace that a worker processes began
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

	Name      string    // of the work queue in metrics and snapshots, and of the handler; default "namespace", upstream's
	Selection Selection // the controller neither touches nor reports other namespaces; default all
	Workers   int       // namespaces at a time; default 10, kube-controller-manager's --concurrent-namespace-syncs
	// ResyncPeriod is how often every namespace is processed again without an event, in case one
	// was missed. Default 5 minutes, kube-controller-manager's --namespace-sync-period.
	ResyncPeriod time.Duration
	// GracePeriod is the time between the event of a deletion and the first pass. In a cluster with
	// several API servers, some may not know of the deletion yet and still let objects be created.
	// Default 5 seconds; negative is none.
	GracePeriod time.Duration
	// DrainTimeout is how long Run waits at its end for what is queued and in progress. Default 20
	// seconds.
	DrainTimeout time.Duration
	// PassTimeout is how long a pass may take: a server that accepts requests and never answers
	// would otherwise occupy the worker forever. The pass fails with [ErrPassTimeout] and is
	// repeated; what it has deleted stays deleted. Default 10 minutes; negative is none.
	PassTimeout time.Duration
	// RateLimiter decides when a namespace whose pass failed is tried again. Default: 5 ms, doubled
	// with each failure up to 60 s, for each namespace on its own. Upstream adds one bucket of 10
	// per second for all, which makes the thousandth failing namespace wait for 90 seconds.
	RateLimiter queue.RateLimiter[string]
	// NewQueue makes the work queue. Default: the textbook's, queue.NewRateLimiting.
	NewQueue     func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]
	QueueTrace   *queue.Trace[string]  // default none
	QueueMetrics queue.MetricsProvider // default none; see [Controller.UpdateMetrics]
	Trace        *Trace                // default none
}

// NewController registers the controller's handlers with the informer. It fails if the informer has
// stopped. The defaults are those that Config documents.
func NewController(config Config) (*Controller, error) {
	limiter := config.RateLimiter
	if limiter == nil {
		limiter = queue.NewItemExponentialFailureRateLimiter[string](5*time.Millisecond, time.Minute)
	}
	newQueue := config.NewQueue
	if newQueue == nil {
		newQueue = func(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
			return queue.NewRateLimiting(limiter, config)
		}
	}
	name := cmp.Or(config.Name, "namespace")
	c := &Controller{
		informer:    config.Informer,
		lister:      informer.NewLister(config.Informer.GetIndexer(), "namespaces"),
		queue:       newQueue(limiter, queue.Config[string]{Name: name, Trace: config.QueueTrace, Metrics: config.QueueMetrics}),
		deleter:     config.Deleter,
		gracePeriod: noneIfNegative(config.GracePeriod, 5*time.Second),
		workers:     orDefault(config.Workers, 10),
		drain:       orDefault(config.DrainTimeout, 20*time.Second),
		passTimeout: noneIfNegative(config.PassTimeout, 10*time.Minute),
		selection:   config.Selection,
		trace:       config.Trace.complete(),
		active:      map[string]time.Time{},
		deletions:   map[string]*deletion{},
	}
	_, err := config.Informer.AddEventHandlerWithOptions(c.handler(), informer.HandlerOptions{
		Name:         name + " controller",
		ResyncPeriod: orDefault(config.ResyncPeriod, 5*time.Minute),
		Coalescing:   true, // only the newest state of a namespace matters
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Controller) handler() informer.ResourceEventHandler[*api.Namespace] {
	return informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc: func(namespace *api.Namespace, _ bool) { c.enqueue(namespace, c.gracePeriod) },
		UpdateFunc: func(old, namespace *api.Namespace) {
			switch {
			case old.UID != namespace.UID:
				c.forget(old)
				c.enqueue(namespace, c.gracePeriod)
			case old.ResourceVersion == namespace.ResourceVersion: // a resync
				c.enqueue(namespace, max(c.gracePeriod, c.untilNext(namespace)))
			case !onlyStatusChanged(old, namespace):
				c.enqueue(namespace, c.gracePeriod)
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

// noneIfNegative is orDefault for a time of which there may be none.
func noneIfNegative(value, fallback time.Duration) time.Duration {
	if value < 0 {
		return 0
	}
	return orDefault(value, fallback)
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value <= 0 {
		return fallback
	}
	return value
}

// concerns reports whether a namespace is terminating and selected.
func (c *Controller) concerns(namespace *api.Namespace) bool {
	return namespace.DeletionTimestamp != nil && c.selection.Selects(namespace.Name)
}

// enqueue is the event handler: a namespace that is being deleted is processed after the grace
// period. Of several deadlines for one namespace the queue keeps the earliest.
func (c *Controller) enqueue(namespace *api.Namespace, after time.Duration) {
	if !c.concerns(namespace) {
		return
	}
	if c.observe(namespace) {
		c.trace.Enqueued(namespace, after)
		c.queue.AddAfter(namespace.Name, after)
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
func (c *Controller) RunWithin(stop, alive context.Context) {
	defer c.queue.ShutDown()
	c.begin()
	if !informer.WaitForCacheSync(stop, c.informer.HasSynced) {
		return
	}

	// Passes outlive stop: each pass in progress is finished. abort cuts them short after the drain
	// timeout.
	working, abort := context.WithCancelCause(alive)
	defer abort(nil)
	var pool wait.Group
	for range c.workers {
		pool.StartWithContext(working, func(working context.Context) {
			wait.UntilWithContext(working, c.worker, time.Second)
		})
	}

	release := context.AfterFunc(alive, c.queue.ShutDown)
	defer release()
	select {
	case <-stop.Done():
	case <-alive.Done():
	}
	drainOver := time.AfterFunc(c.drain, func() {
		abort(ErrCutShort)
		c.queue.ShutDown()
	})
	defer drainOver.Stop()
	if alive.Err() == nil { // otherwise no worker is left that would empty the queue
		c.queue.ShutDownWithDrain()
	}
	abort(nil)
	pool.Wait()
}

// begin queues what was seen terminating until now, for what is left of its grace period; the
// handler queues what is seen from now on. In this order nothing is missed: the store has a
// namespace before the handler gets its event.
//
// Before, nothing is queued: no worker empties the queue of a standby, and the names of all
// namespaces that the leader deletes would pile up there.
func (c *Controller) begin() {
	c.mu.Lock()
	c.working = true
	c.mu.Unlock()
	for _, namespace := range c.lister.ListFunc(c.concerns) {
		after := c.unsettled(namespace)
		c.trace.Enqueued(namespace, after)
		c.queue.AddAfter(namespace.Name, after)
	}
}
