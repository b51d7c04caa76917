package virtualmachine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/queue"
	"orrery/restclient/api"
	"orrery/wait"
)

// Controller makes the machines that VirtualMachine objects ask for.
type Controller struct {
	machines    *informer.SharedIndexInformer[*VirtualMachine]
	lister      informer.Lister[*VirtualMachine]
	client      Client
	driver      driver.Interface
	queue       queue.ObservableInterface[string]
	workers     int
	usagePeriod time.Duration
	trace       *Trace
}

// Client writes objects. *restclient.Resource[*VirtualMachine] is one.
type Client interface {
	// Update writes everything but the status, UpdateStatus the status alone. Both fail with a
	// conflict if the object on the server is newer than the one that was changed.
	Update(ctx context.Context, vm *VirtualMachine, opts api.UpdateOptions) (*VirtualMachine, error)
	UpdateStatus(ctx context.Context, vm *VirtualMachine, opts api.UpdateOptions) (*VirtualMachine, error)
}

// Config is what a controller needs. Machines, Client and Driver are required.
type Config struct {
	// Machines delivers the objects of all namespaces. Its owner runs it.
	Machines *informer.SharedIndexInformer[*VirtualMachine]
	Client   Client
	Driver   driver.Interface

	// Workers is how many machines are worked on at a time. Default 4.
	Workers int
	// UsagePeriod is how often the usage of a machine is looked at. Default 5 seconds.
	UsagePeriod time.Duration
	// DriverTimeout is how long one call of the driver may take. Default 30 seconds.
	DriverTimeout time.Duration
	// RateLimiter decides when a machine whose pass failed is looked at again. Default: 100 ms,
	// doubled with each failure up to a minute, for each machine on its own.
	RateLimiter queue.RateLimiter[string]
	// NewQueue makes the work queue. Default: the textbook's, queue.NewRateLimiting.
	NewQueue func(queue.RateLimiter[string], queue.Config[string]) queue.ObservableInterface[string]
	// QueueTrace gets what the queue does, QueueMetrics makes its metrics. Default: none.
	QueueTrace   *queue.Trace[string]
	QueueMetrics queue.MetricsProvider
	// Trace gets what the controller does. Default: none.
	Trace *Trace
}

// NewController makes a controller, which does nothing before RunWithin.
func NewController(config Config) (*Controller, error) {
	if config.Machines == nil || config.Client == nil || config.Driver == nil {
		return nil, errors.New("a controller of virtual machines needs an informer, a client and a driver")
	}
	limiter := config.RateLimiter
	if limiter == nil {
		limiter = queue.NewItemExponentialFailureRateLimiter[string](100*time.Millisecond, time.Minute)
	}
	newQueue := config.NewQueue
	if newQueue == nil {
		newQueue = func(limiter queue.RateLimiter[string], config queue.Config[string]) queue.ObservableInterface[string] {
			return queue.NewRateLimiting(limiter, config)
		}
	}
	return &Controller{
		machines:    config.Machines,
		lister:      informer.NewLister(config.Machines.GetIndexer(), Resource.Resource),
		client:      config.Client,
		driver:      driver.WithTimeout(config.Driver, cmp.Or(max(config.DriverTimeout, 0), 30*time.Second)),
		queue:       newQueue(limiter, queue.Config[string]{Name: "virtualmachine", Trace: config.QueueTrace, Metrics: config.QueueMetrics}),
		workers:     cmp.Or(max(config.Workers, 0), 4),
		usagePeriod: cmp.Or(max(config.UsagePeriod, 0), 5*time.Second),
		trace:       JoinTraces(ignore, config.Trace),
	}, nil
}

// RunWithin works until stop ends, then finishes the passes that are under way and returns. When
// alive ends, they are cut short: another controller may have taken over. The informer must be
// running. RunWithin may be called once.
//
// The handler is added here, and not in the constructor as in the article: a standby that waits to
// be the leader collects no keys. A handler that comes late is told of everything in the store.
func (c *Controller) RunWithin(stop, alive context.Context) {
	stop, cancel := context.WithCancel(stop)
	defer cancel()
	defer context.AfterFunc(alive, cancel)()
	defer c.queue.ShutDown()
	registration, err := c.machines.AddEventHandler(informer.ResourceEventHandlerFuncs[*VirtualMachine]{
		AddFunc: func(vm *VirtualMachine, _ bool) { c.enqueue(vm) },
		UpdateFunc: func(old, vm *VirtualMachine) {
			if asksForMore(old, vm) {
				c.enqueue(vm)
			}
		},
		// No DeleteFunc: when an object goes, its finalizer has gone before, and all is done.
	})
	if err != nil {
		return // the informer has ended, and nothing can be done without it
	}
	defer c.machines.RemoveEventHandler(registration)
	if !informer.WaitForCacheSync(stop, c.machines.HasSynced) {
		return
	}
	var pool wait.Group
	for range c.workers {
		pool.Start(func() {
			wait.Until(func() { c.runWorker(stop, alive) }, time.Second, stop.Done())
		})
	}
	<-stop.Done()
	c.queue.ShutDown()
	pool.Wait()
}

// asksForMore reports whether an update is more than a status that this controller has written:
// metadata.generation counts changes of the spec, and the deletion of an object arrives as an
// update that sets metadata.deletionTimestamp.
func asksForMore(old, vm *VirtualMachine) bool {
	return old.UID != vm.UID || old.Generation != vm.Generation || (old.DeletionTimestamp == nil) != (vm.DeletionTimestamp == nil)
}

func (c *Controller) enqueue(vm *VirtualMachine) {
	if key, err := informer.MetaNamespaceKeyFunc(vm); err == nil { // an object of a server has a name
		c.queue.Add(key)
	}
}

// runWorker works until the queue is shut down.
func (c *Controller) runWorker(stop, alive context.Context) {
	for c.processNextWorkItem(stop, alive) {
	}
}

// processNextWorkItem looks at one machine, and plans when to look at it again. It returns false
// when the queue is shut down.
func (c *Controller) processNextWorkItem(stop, alive context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if stop.Err() != nil {
		return true // what waits is left for the next run
	}
	started := time.Now()
	again, err := c.guardedSync(alive, key)
	if err != nil {
		c.queue.AddRateLimited(key)
	} else if c.queue.Forget(key); again > 0 {
		c.queue.AddAfter(key, again)
	}
	c.trace.PassDone(key, time.Since(started), c.queue.NumRequeues(key), err)
	return true
}

// guardedSync is syncHandler in which a panic is a failure: one machine cannot keep all others from
// being looked at.
func (c *Controller) guardedSync(ctx context.Context, key string) (again time.Duration, err error) {
	defer func() {
		if value := recover(); value != nil {
			again, err = 0, wait.NewPanic(value)
		}
	}()
	return c.syncHandler(ctx, key)
}

// Snapshot returns what the queue holds.
func (c *Controller) Snapshot() queue.Snapshot[string] { return c.queue.Snapshot() }

// UpdateMetrics sets the gauges of the queue's metrics. Call it when they are read.
func (c *Controller) UpdateMetrics() { c.queue.UpdateMetrics() }
