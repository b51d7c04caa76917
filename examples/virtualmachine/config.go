package virtualmachine

import (
	"cmp"
	"context"
	"time"

	"orrery/controller"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/queue"
	"orrery/restclient/api"
)

// Controller creates and deletes the machines of VirtualMachine objects.
type Controller struct {
	lister      informer.Lister[*VirtualMachine]
	client      Client
	driver      driver.Interface
	pool        *controller.Pool
	usagePeriod time.Duration
	trace       Trace
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
	// Machines is an informer of all namespaces. The caller runs it.
	Machines *informer.SharedIndexInformer[*VirtualMachine]
	Client   Client
	Driver   driver.Interface

	// UsagePeriod is how often the usage of a machine is read. Default 5 seconds.
	UsagePeriod time.Duration
	// DriverTimeout is how long one call of the driver may take. Default 30 seconds.
	DriverTimeout time.Duration
	// Worker tunes the queue and its workers. The controller overwrites Name, Reconcile, Keys and
	// Synced. Default: 4 workers; a failed pass is repeated after 100 ms, doubled with each failure
	// up to a minute, per machine.
	Worker controller.PoolConfig
	// Trace observes the controller. Default: none.
	Trace *Trace
}

// NewController registers the controller's handler. It fails if the informer has stopped.
func NewController(config Config) (*Controller, error) {
	c := &Controller{
		lister:      informer.NewLister(config.Machines.GetIndexer(), Resource.Resource),
		client:      config.Client,
		usagePeriod: cmp.Or(max(config.UsagePeriod, 0), 5*time.Second),
	}
	c.driver = driver.WithTimeout(config.Driver, cmp.Or(max(config.DriverTimeout, 0), 30*time.Second))
	if config.Trace != nil {
		c.trace = *config.Trace
	}
	registration, err := config.Machines.AddEventHandler(c.eventHandler())
	if err != nil {
		return nil, err
	}
	config.Worker.Name = "virtualmachine"
	config.Worker.Reconcile = c.syncHandler
	config.Worker.Keys = config.Machines.GetIndexer().ListKeys
	config.Worker.Synced = []informer.InformerSynced{registration.HasSynced}
	config.Worker.Workers = cmp.Or(max(config.Worker.Workers, 0), 4)
	if config.Worker.RateLimiter == nil {
		config.Worker.RateLimiter = queue.NewItemExponentialFailureRateLimiter[string](100*time.Millisecond,
			time.Minute)
	}
	c.pool = controller.NewPool(config.Worker)
	return c, nil
}

// RunWithin works until stop is done, then finishes queued keys and running passes, and returns.
// When alive is done it cancels them: another controller may have taken over. The informer must be
// running. RunWithin may be called once.
func (c *Controller) RunWithin(stop, alive context.Context) { c.pool.Run(stop, alive) }

// asksForMore reports whether an update needs a pass. This controller's own status writes do not:
// metadata.generation counts changes of the spec, and a deletion arrives as an update that sets
// metadata.deletionTimestamp.
func asksForMore(old, vm *VirtualMachine) bool {
	return old.UID != vm.UID || old.Generation != vm.Generation ||
		(old.DeletionTimestamp == nil) != (vm.DeletionTimestamp == nil)
}

func (c *Controller) enqueue(vm *VirtualMachine) {
	if key, err := informer.MetaNamespaceKeyFunc(vm); err == nil { // an object of a server has a name
		c.pool.Add(key)
	}
}

// Trace is a set of hooks that are called as the controller works. The pointer and each hook may be
// nil. Hooks run on the goroutines of the workers, several at a time; they must not block, and must
// not change the objects that they get.
type Trace struct {
	// PhaseChanged: the server has stored a new phase; from is the one before.
	PhaseChanged func(vm *VirtualMachine, from VirtualMachinePhase)
	// Event: something to record as an Event of Kubernetes.
	Event func(vm *VirtualMachine, kind api.EventType, reason, message string)
}

// The reasons of Events, besides "Failed" with the name of a driver's call behind it, such as
// FailedCreateServer.
const (
	ReasonServerCreated = "ServerCreated"
	ReasonServerDeleted = "ServerDeleted"
	ReasonServerLost    = "ServerLost"  // it has ended, or was deleted by something else
	ReasonInvalidSpec   = "InvalidSpec" // the controller waits for another one
	ReasonFailedSync    = "FailedSync"  // the API server refuses what the controller writes
)
