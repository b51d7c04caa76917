// Package manager runs the controllers of "orrery run" on a [controller.Manager], and adds the log,
// metrics, health and Events of each. A [Descriptor] has
// the name, needs and rights of a controller; its [Initializer] builds the controller from a
// [ControllerContext]. [Choose] parses --controllers, and [NewManager] takes the selection.
// [Manager.Run] sets the controllers up, starts the informers, and lets the controllers work when
// this process leads; until then they stand by, with warm stores.
//
// [InformerFor] returns the same informer to all controllers: one watch for each type. Each
// controller has its own client with a user agent and a rate limit, its own queue and workers, and
// its own health check, metrics, Events and log lines. One that panics has ended, and the others
// continue; one that does not return delays the end of the process for a bounded time.
package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// Manager sets up the selected controllers and runs them.
type Manager struct {
	shared      *Shared             // with defaults
	controllers *controller.Manager // its client is that of the informers

	mu        sync.Mutex // guards the fields below, and the members
	members   []*member
	watched   []watched
	recorders []*events.Recorder // those that have started
	prepared  bool
	left      []string // what was not finished at the end
}

// member is a controller of a manager and its state.
type member struct {
	Descriptor
	context ControllerContext

	// Guarded by Manager.mu.
	controller Controller // nil: not set up
	state      State
	failed     error // why it was not set up, or has ended
}

// watched is an informer whose store [Manager.Synced] checks.
type watched struct {
	name   string
	synced func() bool
}

// State is the state of a controller in a manager.
type State string

// The states.
const (
	// Missing: not set up, or not yet; Status.Why says if the server lacks a resource.
	Missing State = "missing"
	// Standby: set up, with current stores, but not working.
	Standby State = "standby"
	// Running: working.
	Running State = "running"
	// Ended: no longer working.
	Ended State = "ended"
)

// Status is the entry of a controller in /debug/orrery.
type Status struct {
	Name  string
	State State
	// The reason for Missing or Ended; "" otherwise.
	Why string
}

// NewManager returns a manager of these controllers, see [Choose]. Nothing is sent or started
// before Run.
func NewManager(shared Shared, chosen []Descriptor) *Manager {
	if shared.DrainTimeout <= 0 {
		shared.DrainTimeout = defaultDrain
	}
	if shared.Logger == nil {
		shared.Logger = logs.New(logs.Config{Writer: io.Discard})
	}
	m := &Manager{shared: &shared}
	wholeLists := shared.Client.WithListLimit(0) // an informer lists a whole resource at once
	m.controllers = controller.NewManager(controller.Config{
		Client: m.clientFor(wholeLists, "shared-informers", 1, 1), Gears: shared.Gears,
		Failures: io.Discard, Lead: m.lead,
	})
	for _, d := range chosen {
		c := &member{Descriptor: d, state: Missing}
		client := m.clientFor(shared.Client, d.Name, max(d.QPSFactor, 1), max(d.BurstFactor, 1))
		c.context = ControllerContext{
			Shared: shared, Name: d.Name, Client: client,
			manager: m, recorder: m.recorder(d.Name, client),
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

const (
	// discoveryTimeout bounds the requests for the resources of the server.
	discoveryTimeout = 30 * time.Second
	// lastEvents is how long Run waits for queued Events at the end.
	lastEvents = 2 * time.Second
	// stopMargin is how long a controller may take to return after its work has been cut short.
	stopMargin = 5 * time.Second
)

// Run sets up every controller whose resources the server has, and runs the controllers as
// [controller.Manager.Run] does, until ctx ends. A controller that does not return in time is
// abandoned, see [Manager.Left]. The error is a [*DiscoveryError], or that of an initializer or of
// Shared.Lead. Call Run once.
func (m *Manager) Run(ctx context.Context) error {
	defer m.stopRecorders()
	asking, cancel := context.WithTimeout(ctx, discoveryTimeout)
	defer cancel()
	available, err := availableResources(asking, m.shared.Client, m.members)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return &DiscoveryError{err}
	}
	for _, c := range m.members {
		lacks := func(resource api.GroupVersionResource) bool { return !available[resource] }
		if at := slices.IndexFunc(c.Needs, lacks); at >= 0 {
			m.missing(c, c.Needs[at])
			continue
		}
		m.controllers.Add(func() (func(stop, alive context.Context), error) { return m.setUp(c) })
	}
	return m.controllers.Run(ctx)
}

// lead records that the informers run, and waits for leadership.
func (m *Manager) lead(ctx context.Context, work func(alive context.Context)) error {
	m.mu.Lock()
	m.prepared = true
	m.mu.Unlock()
	if m.shared.Lead != nil {
		return m.shared.Lead(ctx, work)
	}
	work(context.WithoutCancel(ctx))
	return nil
}

// DiscoveryError reports that discovery has failed.
type DiscoveryError struct{ Err error }

func (e *DiscoveryError) Error() string { return fmt.Sprintf("discovering resources: %v", e.Err) }

func (e *DiscoveryError) Unwrap() error { return e.Err }

// availableResources returns which of the needed resources the server has. It requests their group
// versions, with one small request each. Every authenticated user may do that, and it includes the
// resources of aggregated API servers.
func availableResources(ctx context.Context, client *restclient.Client,
	members []*member) (map[api.GroupVersionResource]bool, error) {
	discoverer := discovery.New(client)
	asked, available := map[api.GroupVersion]bool{}, map[api.GroupVersionResource]bool{}
	for _, c := range members {
		for _, resource := range c.Needs {
			gv := resource.GroupVersion()
			if asked[gv] {
				continue
			}
			asked[gv] = true
			list, err := discoverer.ServerResourcesForGroupVersion(ctx, gv)
			if api.IsNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, one := range list.Resources {
				available[gv.WithResource(one.Name)] = true
			}
		}
	}
	return available, nil
}

// missing records that the server does not have a resource of a controller.
func (m *Manager) missing(c *member, resource api.GroupVersionResource) {
	name := resource.TypeName()
	m.mu.Lock()
	c.failed = fmt.Errorf("the API server does not have %s", name)
	m.mu.Unlock()
	m.shared.Logger.Warn().Str("controller", c.Name).Str("resource", name).
		Msg("controller does not start, the API server does not have its resource")
}

// setUp calls the initializer of a controller, and returns the function that runs the controller.
func (m *Manager) setUp(c *member) (run func(stop, alive context.Context), err error) {
	var made Controller
	err = guarded(func() (err error) {
		made, err = c.New(c.context)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	m.mu.Lock()
	c.controller, c.state = made, Standby
	m.mu.Unlock()
	if gauges, ok := made.(interface{ UpdateMetrics() }); ok && m.shared.Metrics != nil {
		m.shared.Metrics.BeforeGather(gauges.UpdateMetrics)
	}
	return func(stop, alive context.Context) { m.run(c, stop, alive) }, nil
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

var errEndedEarly = errors.New("it returned without being stopped")

// run runs a controller until it returns, or is abandoned because it did not return in time. If it
// panics it has ended.
func (m *Manager) run(c *member, stop, alive context.Context) {
	if stop.Err() == nil && alive.Err() == nil {
		m.started(c)
	}
	returned := make(chan error, 1)
	go func() {
		returned <- guarded(func() error {
			c.controller.RunWithin(stop, alive)
			if stop.Err() == nil && alive.Err() == nil {
				return errEndedEarly
			}
			return nil
		})
	}()
	overdue, abandon := context.WithCancel(context.Background())
	defer abandon()
	defer context.AfterFunc(stop, func() { time.AfterFunc(m.shared.DrainTimeout+stopMargin, abandon) })()
	defer context.AfterFunc(alive, func() { time.AfterFunc(stopMargin, abandon) })()
	select {
	case err := <-returned:
		m.ended(c, err)
	case <-overdue.Done():
		m.leave(c.Name)
		m.shared.Logger.Error().Str("controller", c.Name).
			Msg("the controller did not stop in time, continuing without it")
	}
}

// started records that a controller works.
func (m *Manager) started(c *member) {
	m.mu.Lock()
	c.state = Running
	m.mu.Unlock()
	m.shared.Logger.Info().Str("controller", c.Name).Bool("dry_run", m.shared.DryRun).Msg("controller started")
	if m.shared.Metrics != nil {
		m.shared.Metrics.Running(c.Name, true)
	}
}

// ended records that a controller no longer works; err is nil if it was stopped.
func (m *Manager) ended(c *member, err error) {
	m.mu.Lock()
	c.state, c.failed = Ended, err
	m.mu.Unlock()
	if m.shared.Metrics != nil {
		m.shared.Metrics.Running(c.Name, false)
	}
	if err == nil {
		return
	}
	line := m.shared.Logger.Error().Str("controller", c.Name).Err(err)
	if panicked, ok := errors.AsType[*wait.Panic](err); ok {
		line = line.Bytes("stack", panicked.Stack)
	}
	line.Msg("controller has ended, the others continue")
}

func (m *Manager) leave(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = append(m.left, what)
}

// Left returns what was not finished: each controller that was abandoned, and every pass that was
// cut short because DrainTimeout was over. Call it when Run has returned.
func (m *Manager) Left() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.left)
}

// healthy is the health check of a controller: it fails if restarting the process would help.
func (m *Manager) healthy(c *member) error {
	m.mu.Lock()
	made, state, failed := c.controller, c.state, c.failed
	m.mu.Unlock()
	if state == Ended && failed != nil {
		return failed
	}
	if checked, ok := made.(interface{ Healthy() error }); ok {
		return checked.Healthy()
	}
	return nil
}

// Snapshot returns the state of every controller.
func (m *Manager) Snapshot() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Status
	for _, c := range m.members {
		status := Status{Name: c.Name, State: c.state}
		if c.failed != nil {
			status.Why = c.failed.Error()
		}
		all = append(all, status)
	}
	return all
}

// watch adds an informer to those that Synced checks.
func (m *Manager) watch(name string, synced func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = append(m.watched, watched{name, synced})
}

// Synced returns an error if the store of an informer is not filled. It is a check of /readyz,
// which a standby passes as well.
func (m *Manager) Synced() error {
	m.mu.Lock()
	all, prepared := slices.Clone(m.watched), m.prepared
	m.mu.Unlock()
	if !prepared {
		return errors.New("no informer has been started yet")
	}
	for _, w := range all {
		if !w.synced() {
			return fmt.Errorf("the store of %s is not filled yet", w.name)
		}
	}
	return nil
}

// Recorder returns a new recorder of Events of the process itself, which Run stops.
func (m *Manager) Recorder() events.EventRecorder {
	return m.recorder("orrery", m.controllers.Config().Client)()
}
