// Package manager is the controller manager: it starts the selected controllers and isolates
// them from each other. A [Descriptor] has the name, needs and rights of a controller; its
// [Initializer] builds the controller from a [ControllerContext]. [Choose] parses --controllers,
// and [NewManager] takes the selection:
//
//	Prepare     discovery ── are its resources served? ──┬─ yes ── Initializer ── standby, with warm stores
//	                                                 └─ no ─── missing: retry every 10 s
//	Work        RunWithin of each controller in standby, and of each that is set up later
//	Shutdown    informers, recorders of Events
//
// There is one watch for each type: [InformerFor] returns the same informer to all controllers.
// Each controller has its own client with a user agent and a rate limit, its own queue and workers,
// and its own health check, metrics, Events and log lines. If a resource is missing, its
// controllers wait and are set up when it appears. If a resource or the right to watch it
// disappears later, the controllers keep their stores and continue after a new list. Both are
// reported once: by a log line, an Event, and [Status]. A controller that panics has ended, and the
// others continue; one that does not return delays the end of the process for a bounded time.
// [Manager.Shutdown] waits for the goroutines that Prepare started.
package manager

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"orrery/informer"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Manager is the controller manager: it sets up the selected controllers, runs their informers and
// workers, and starts controllers later whose resources appear later.
type Manager struct {
	shared         *Shared // with defaults
	informerClient *restclient.Client
	informers      informer.SharedInformerFactory
	available      AvailableResources
	recorders      recorders
	looking        sync.WaitGroup // the goroutine that looks for missing resources
	running        sync.WaitGroup // the controllers

	mu       sync.Mutex // guards the fields below, and the members
	members  []*member
	watched  []watched
	prepared bool
	term     *term    // nil: the controllers do not work
	left     []string // what was not finished at the end
}

// member is a controller of a manager and its state.
type member struct {
	Descriptor
	context ControllerContext

	// Guarded by Manager.mu.
	controller Controller // nil: not set up
	state      State
	failed     error                              // why it was not set up, or has ended
	uses       []api.GroupVersionResource         // whose informers it uses
	trouble    map[api.GroupVersionResource]error // errors of these informers
}

// watched is an informer whose store [Manager.Synced] checks.
type watched struct {
	name     string
	synced   func() bool
	resource api.GroupVersionResource
	addHeads func(informer.ResourceEventHandler[*api.PartialObjectMetadata]) (synced informer.InformerSynced, leave func(), ok bool)
}

// term is the time in which the controllers work.
type term struct{ stop, alive context.Context }

// NewManager returns a manager of these controllers, see [Choose]. Nothing is sent or started
// before Prepare.
func NewManager(shared Shared, chosen []Descriptor) *Manager {
	if shared.DrainTimeout <= 0 {
		shared.DrainTimeout = defaultDrain
	}
	if shared.Logger == nil {
		shared.Logger = logs.New(logs.Config{Writer: io.Discard})
	}
	m := &Manager{shared: &shared}
	m.recorders.shared = m.shared
	wholeLists := shared.Client.WithListLimit(0) // an informer lists a whole resource at once
	m.informerClient = m.clientFor(wholeLists, "shared-informers", 1, 1)
	for _, d := range chosen {
		c := &member{Descriptor: d, state: Missing, trouble: map[api.GroupVersionResource]error{}}
		client := m.clientFor(shared.Client, d.Name, max(d.QPSFactor, 1), max(d.BurstFactor, 1))
		c.context = ControllerContext{
			Shared: shared, Name: d.Name, Client: client, AvailableResources: &m.available,
			manager: m, recorder: m.recorders.of(d.Name, client),
		}
		m.members = append(m.members, c)
		if shared.Server != nil {
			shared.Server.Live(d.Name, func() error { return m.healthy(c) })
		}
		if shared.Metrics != nil {
			shared.Metrics.Running(d.Name, false)
		}
	}
	if shared.Server != nil {
		shared.Server.Show("gears", func() any { return shared.Gears.Forms() })
		shared.Server.Show("controllers", func() any { return m.Snapshot() })
	}
	return m
}

// clientFor returns a client with its own user agent, such as "orrery/v1 (linux/amd64)
// namespace-controller".
func (m *Manager) clientFor(base *restclient.Client, user string, qpsFactor, burstFactor int) *restclient.Client {
	client := base.As(base.Config().UserAgent+" "+user, m.shared.QPS*float32(qpsFactor), m.shared.Burst*burstFactor)
	if m.shared.Server != nil {
		m.shared.Server.Show("client/"+user, func() any { return client.Snapshot() })
	}
	return client
}

// Prepare asks the server for its resources, sets up every controller whose resources exist, and
// starts the informers. From then on the controllers stand by; the others are set up when their
// resources appear. All of that ends with lifetime, which should end after the controllers: they
// read the stores while they finish. The first requests end with ctx. The error is a
// [*DiscoveryError] or that of an initializer.
func (m *Manager) Prepare(ctx, lifetime context.Context) error {
	if err := m.available.look(ctx, m.shared.Client, m.needs()); err != nil {
		return &DiscoveryError{err}
	}
	for _, c := range m.members {
		if err := m.setUp(c); err != nil {
			return fmt.Errorf("starting %s: %w", c.Name, err)
		}
	}
	if err := m.informers.Start(lifetime); err != nil {
		return fmt.Errorf("starting the informers: %w", err)
	}
	m.mu.Lock()
	m.prepared = true
	m.mu.Unlock()
	m.looking.Go(func() { m.keepLooking(lifetime) })
	return nil
}

// DiscoveryError reports that discovery has failed.
type DiscoveryError struct{ Err error }

func (e *DiscoveryError) Error() string { return fmt.Sprintf("discovering resources: %v", e.Err) }

func (e *DiscoveryError) Unwrap() error { return e.Err }

// lookEvery is how often missing resources are looked for. A watch of CustomResourceDefinitions
// would be faster, but needs an extra right and does not see aggregated API servers.
const lookEvery = 10 * time.Second

// keepLooking sets controllers up when their resources appear, until none is missing.
func (m *Manager) keepLooking(ctx context.Context) {
	for len(m.needs()) > 0 && wait.Sleep(ctx, wait.Jitter(lookEvery, 0.1)) == nil {
		if err := m.available.look(ctx, m.informerClient, m.needs()); err != nil {
			m.shared.Logger.At(1).Err(err).Msg("cannot determine whether a missing resource has appeared")
			continue
		}
		for _, c := range m.members {
			if m.state(c) != Missing {
				continue
			}
			failed := m.setUp(c)
			m.shareInformers()
			if err := m.informers.Start(ctx); err != nil { // also those of a controller that has failed: others may share them
				return // the process is about to end
			}
			if failed != nil {
				m.ended(c, failed)
				continue
			}
			m.launch(c)
		}
	}
}

// shareInformers lets controllers with their own informers use those of the factory instead.
func (m *Manager) shareInformers() {
	m.mu.Lock()
	var all []Controller
	for _, c := range m.members {
		all = append(all, c.controller)
	}
	m.mu.Unlock()
	for _, controller := range all {
		if sharing, ok := controller.(interface{ ShareInformers() }); ok {
			sharing.ShareInformers()
		}
	}
}

// needs returns the resources of the controllers that have not been set up.
func (m *Manager) needs() (all []api.GroupVersionResource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.members {
		if c.state == Missing {
			all = append(all, c.Needs...)
		}
	}
	return all
}

// setUp calls the initializer of a controller if the server has its resources.
func (m *Manager) setUp(c *member) error {
	for _, resource := range c.Needs {
		if !m.available.Has(resource) {
			m.missing(c, resource)
			return nil
		}
	}
	var controller Controller
	err := guarded(func() (err error) {
		controller, err = c.New(c.context)
		return err
	})
	if err != nil {
		return err
	}
	m.mu.Lock()
	c.controller, c.state, c.failed = controller, Standby, nil
	m.mu.Unlock()
	if gauges, ok := controller.(interface{ UpdateMetrics() }); ok && m.shared.Metrics != nil {
		m.shared.Metrics.BeforeGather(gauges.UpdateMetrics)
	}
	return nil
}

// guarded returns the error of f, or its panic, whatever wait.ReallyCrash is: one controller must
// not stop the others.
func guarded(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = wait.NewPanic(value)
		}
	}()
	return f()
}
