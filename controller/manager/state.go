package manager

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
	"orrery/wait"
)

// State is the state of a controller in a manager.
type State string

// The states.
const (
	// Missing: the server does not have a needed resource. The controller is set up when the
	// resource appears.
	Missing State = "missing"
	// Standby: set up, with current stores, but not working.
	Standby State = "standby"
	// Running: working.
	Running State = "running"
	// Waiting: running, but currently unable to work. It continues by itself.
	Waiting State = "waiting"
	// Ended: no longer working.
	Ended State = "ended"
)

// Status is the entry of a controller in /debug/orrery.
type Status struct {
	Name  string
	State State
	// The reason for Missing, Waiting or Ended; "" otherwise.
	Why string
}

// Snapshot returns the state of every controller.
func (m *Manager) Snapshot() []Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Status
	for _, c := range m.members {
		status := Status{Name: c.Name, State: c.state}
		var reasons []string
		if c.failed != nil {
			reasons = append(reasons, c.failed.Error())
		}
		for _, err := range c.trouble {
			reasons = append(reasons, err.Error())
		}
		if len(reasons) > 0 && c.state == Running {
			status.State = Waiting
		}
		slices.Sort(reasons)
		status.Why = strings.Join(reasons, "; ")
		all = append(all, status)
	}
	return all
}

func (m *Manager) state(c *member) State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return c.state
}

// unfinished returns the names of the controllers that have not ended.
func (m *Manager) unfinished() (names []string) {
	for _, status := range m.Snapshot() {
		if status.State == Running || status.State == Waiting {
			names = append(names, status.Name)
		}
	}
	return names
}

// The reasons of the Events about resources that controllers need.
const (
	ReasonMissing   = "ResourceMissing"
	ReasonForbidden = "ResourceForbidden"
	ReasonWatched   = "ResourceWatched"
)

func errMissing(resource api.GroupVersionResource) error {
	return fmt.Errorf("the API server does not have %s", ResourceName(resource))
}

// missing records that a controller waits for a resource, and reports it once.
func (m *Manager) missing(c *member, resource api.GroupVersionResource) {
	err := errMissing(resource)
	m.mu.Lock()
	reported := c.failed != nil && c.failed.Error() == err.Error()
	c.failed = err
	m.mu.Unlock()
	if reported {
		return
	}
	m.shared.Logger.Warn().Str("controller", c.Name).Str("resource", ResourceName(resource)).
		Msg("controller waits, the API server does not have its resource")
}

// started records that a controller works; trouble holds the errors of its resources at that time.
func (m *Manager) started(c *member, trouble map[api.GroupVersionResource]error) {
	m.shared.Logger.Info().Str("controller", c.Name).Bool("dry_run", m.shared.DryRun).Msg("controller started")
	if m.shared.Metrics != nil {
		m.shared.Metrics.Running(c.Name, true)
	}
	for resource, err := range trouble {
		m.recordWatchable(c, resource, err)
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

// uses records that a controller uses the informer of a resource.
func (m *Manager) uses(name string, resource api.GroupVersionResource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.members {
		if c.Name == name && !slices.Contains(c.uses, resource) {
			c.uses = append(c.uses, resource)
		}
	}
}

// availability returns hooks for the reflector of a resource. They detect when the resource, or the
// right to watch it, disappears and comes back.
func (m *Manager) availability(resource api.GroupVersionResource) *reflector.Trace {
	return &reflector.Trace{
		WatchStarted: func(api.ListOptions) { m.watchable(resource, nil) },
		BackOff: func(_ time.Duration, err error) {
			switch {
			case api.IsNotFound(err):
				m.watchable(resource, errMissing(resource))
			case api.IsForbidden(err):
				m.watchable(resource, err)
			}
		},
	}
}

// watchable records whether the objects of a resource can be watched; err is the reason if not. A
// change is reported once for each controller.
func (m *Manager) watchable(resource api.GroupVersionResource, err error) {
	m.available.set(resource, err == nil || api.IsForbidden(err))
	var concerned, working []*member
	m.mu.Lock()
	for _, c := range m.members {
		known := c.trouble[resource]
		if !slices.Contains(c.uses, resource) || (known == nil) == (err == nil) {
			continue
		}
		if err == nil {
			delete(c.trouble, resource)
		} else {
			c.trouble[resource] = err
		}
		concerned = append(concerned, c)
		if c.state == Running {
			working = append(working, c)
		}
	}
	m.mu.Unlock()
	for _, c := range concerned {
		m.logWatchable(c, resource, err)
	}
	for _, c := range working {
		m.recordWatchable(c, resource, err)
	}
}

func (m *Manager) logWatchable(c *member, resource api.GroupVersionResource, err error) {
	name := ResourceName(resource)
	switch {
	case err == nil:
		m.shared.Logger.Info().Str("controller", c.Name).Str("resource", name).Msg("controller continues, its resource can be watched again")
	case api.IsForbidden(err):
		m.shared.Logger.Warn().Str("controller", c.Name).Str("resource", name).Err(err).
			Msg("controller waits, it has no right to watch its resource; orrery rbac --controllers prints the rights that it needs")
	default:
		m.shared.Logger.Warn().Str("controller", c.Name).Str("resource", name).Msg("controller waits, the API server does not have its resource any more")
	}
}

// recordWatchable records it as an Event of the object that stands for the resource. A standby
// records nothing until it starts to work.
func (m *Manager) recordWatchable(c *member, resource api.GroupVersionResource, err error) {
	name := ResourceName(resource)
	object := api.ObjectReference{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService", Name: resource.Version + "." + resource.Group}
	if strings.Contains(resource.Group, ".") && !strings.HasSuffix(resource.Group, ".k8s.io") {
		object = api.ObjectReference{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: resource.GroupResource()}
	}
	recorder, ctx := c.context.Recorder(), context.Background()
	switch {
	case err == nil:
		recorder.Event(ctx, object, api.EventNormal, ReasonWatched, name+" can be watched again, "+c.Name+" goes on")
	case api.IsForbidden(err):
		recorder.Event(ctx, object, api.EventWarning, ReasonForbidden, c.Name+" waits, it has no right to watch "+name)
	default:
		recorder.Event(ctx, object, api.EventWarning, ReasonMissing, c.Name+" waits, the API server does not have "+name+" any more")
	}
}
