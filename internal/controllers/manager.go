package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/informer"
	"orrery/internal/observe/events"
	"orrery/internal/observe/logs"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Manager is the controller manager: it sets up the chosen controllers, runs their informers, lets them work, and starts later
// those whose resource appears later.
type Manager struct {
	shared         *Shared // with every default
	informerClient *restclient.Client
	informers      informer.SharedInformerFactory
	available      AvailableResources
	recorders      recorders
	looking        sync.WaitGroup // the goroutine that looks for missing resources
	running        sync.WaitGroup // the controllers

	mu       sync.Mutex // guards what follows, and the members
	members  []*member
	watched  []watched
	prepared bool
	term     *term // nil: the controllers do not work
}

// member is a controller of a manager, and what is known of it.
type member struct {
	Descriptor
	context ControllerContext

	// Guarded by Manager.mu.
	controller Controller // nil: it is not set up
	state      State
	failed     error                              // why it was not set up, or has ended
	uses       []api.GroupVersionResource         // whose informers it has asked for
	trouble    map[api.GroupVersionResource]error // of those: why their informers see nothing
}

// watched is an informer, for the question whether all are filled.
type watched struct {
	name   string
	synced func() bool
}

// term is the time in which the controllers work.
type term struct{ stop, alive context.Context }

// NewManager returns a manager of these controllers, see [Choose]. Nothing is sent or started before Prepare.
func NewManager(shared Shared, chosen []Descriptor) *Manager {
	if shared.ResyncPeriod <= 0 {
		shared.ResyncPeriod = defaultResync
	}
	if shared.DrainTimeout <= 0 {
		shared.DrainTimeout = defaultDrain
	}
	if shared.Logger == nil {
		shared.Logger = logs.New(logs.Config{Writer: io.Discard})
	}
	if shared.Worked == nil {
		shared.Worked = func() {}
	}
	m := &Manager{shared: &shared}
	m.recorders.shared = m.shared
	m.informerClient = m.clientFor("shared-informers", 1, 1)
	for _, d := range chosen {
		c := &member{Descriptor: d, state: Missing, trouble: map[api.GroupVersionResource]error{}}
		client := m.clientFor(d.Name, max(d.QPSFactor, 1), max(d.BurstFactor, 1))
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

// clientFor returns a client that shows its user in the logs of the API server, as "orrery/v1 (linux/amd64) namespace-controller".
func (m *Manager) clientFor(user string, qpsFactor, burstFactor int) *restclient.Client {
	client := m.shared.Client.As(m.shared.Client.Config().UserAgent+" "+user, m.shared.QPS*float32(qpsFactor), m.shared.Burst*burstFactor)
	if m.shared.Server != nil {
		m.shared.Server.Show("client/"+user, func() any { return client.Snapshot() })
	}
	return client
}

// Prepare asks the server what it has, sets up every controller whose resources are there, and starts the informers. From then on
// they stand by. The others are set up when their resources have appeared. All of that ends with lifetime, which should end
// later than the controllers: one that finishes what it has in hand still reads the stores. The questions end with ctx. The
// error is a [*DiscoveryError], or that of an initialiser.
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

// DiscoveryError says that the server does not tell what resources it has.
type DiscoveryError struct{ Err error }

func (e *DiscoveryError) Error() string { return fmt.Sprintf("discovering resources: %v", e.Err) }

func (e *DiscoveryError) Unwrap() error { return e.Err }

// lookEvery is how often the server is asked whether a missing resource has appeared. A watch of CustomResourceDefinitions
// would tell at once, but needs a right that controllers do not need otherwise, and says nothing of the resources of
// aggregated API servers.
const lookEvery = 10 * time.Second

// keepLooking sets controllers up whose resources have appeared, until there is nothing left to look for.
func (m *Manager) keepLooking(ctx context.Context) {
	for len(m.needs()) > 0 && wait.Sleep(ctx, wait.Jitter(lookEvery, 0.1)) == nil {
		if err := m.available.look(ctx, m.informerClient, m.needs()); err != nil {
			m.shared.Logger.At(1).Err(err).Msg("the server does not tell whether a missing resource has appeared")
			continue
		}
		for _, c := range m.members {
			if m.state(c) != Missing {
				continue
			}
			if err := m.setUp(c); err != nil {
				m.ended(c, err)
				continue
			}
			if err := m.informers.Start(ctx); err != nil {
				return // the process is about to end
			}
			m.launch(c)
		}
	}
}

// needs are the resources of the controllers that have not been set up.
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

// setUp calls the initialiser of a controller if the server has what it needs.
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

// guarded returns the error of f, or its panic, whatever wait.ReallyCrash says: one controller cannot keep the others from working.
func guarded(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = wait.NewPanic(value)
		}
	}()
	return f()
}

// healthy is the check of a controller: it fails if a restart of the process is what would help.
func (m *Manager) healthy(c *member) error {
	m.mu.Lock()
	controller, state, failed := c.controller, c.state, c.failed
	m.mu.Unlock()
	if state == Ended && failed != nil {
		return failed
	}
	if checked, ok := controller.(interface{ Healthy() error }); ok {
		return checked.Healthy()
	}
	return nil
}

// patience is for how much longer than DrainTimeout Work waits for a controller that does not end.
const patience = 5 * time.Second

// Work lets the controllers work until stop or alive ends, see [Controller], and returns when all of them have ended. One that
// does not end in time is left behind. Work is to be called once, also for controllers that never got to work, with contexts
// that have ended: that is how they give back what they have.
func (m *Manager) Work(stop, alive context.Context) {
	m.mu.Lock()
	m.term = &term{stop, alive}
	m.mu.Unlock()
	for _, c := range m.members {
		m.launch(c)
	}
	select {
	case <-stop.Done():
	case <-alive.Done():
	}
	m.mu.Lock()
	m.term = nil // nothing is launched any more
	m.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.running.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(m.shared.DrainTimeout + patience):
		m.shared.Logger.Error().Str("controller", strings.Join(m.in(Running), ", ")).Msg("does not end, going on without it")
	}
}

// launch runs a controller that stands by, if this is the time to work.
func (m *Manager) launch(c *member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.term == nil || c.state != Standby {
		return
	}
	c.state = Running
	m.running.Add(1)
	go func(term *term) {
		defer m.running.Done()
		m.run(c, term)
	}(m.term)
}

// run runs a controller. One that panics has ended, and the others go on.
func (m *Manager) run(c *member, term *term) {
	if term.stop.Err() == nil && term.alive.Err() == nil {
		m.started(c)
	}
	err := guarded(func() error {
		c.controller.RunWithin(term.stop, term.alive)
		return nil
	})
	if err == nil && term.stop.Err() == nil && term.alive.Err() == nil {
		err = errEndedEarly
	}
	m.ended(c, err)
}

var errEndedEarly = errors.New("it returned although nobody had told it to")

// watch notes an informer.
func (m *Manager) watch(w watched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = append(m.watched, w)
}

// Synced returns an error if the store of an informer is not filled. It is a check of /readyz that a standby passes as well.
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

// Recorder returns a new recorder of Events of the process itself, which Shutdown ends.
func (m *Manager) Recorder() events.EventRecorder {
	return m.recorders.of("orrery", m.informerClient)()
}

// lastEvents is how long Shutdown waits for Events that have not been sent.
const lastEvents = 2 * time.Second

// Shutdown ends the informers, waits for what Prepare has started, and has the last Events sent. It is called when the
// lifetime that Prepare got has ended.
func (m *Manager) Shutdown() {
	m.informers.Shutdown()
	m.looking.Wait()
	m.recorders.stop(lastEvents)
}
