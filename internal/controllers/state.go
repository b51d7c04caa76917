package controllers

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

// State is what a controller of a manager does.
type State string

// The states.
const (
	// Missing: the server does not have a resource that it needs. It is set up as soon as the server has.
	Missing State = "missing"
	// Standby: it is set up, its stores are up to date, and it does not work.
	Standby State = "standby"
	// Running: it works.
	Running State = "running"
	// Ended: it does not work any more.
	Ended State = "ended"
)

// Status is what /debug/orrery shows of a controller.
type Status struct {
	Name  string
	State State
	// Why it is missing or has ended, or which resources cannot be watched at present; "" if all is well.
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
		for resource, err := range c.trouble {
			reasons = append(reasons, fmt.Sprintf("%s: %v", resourceName(resource), err))
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

// in returns the names of the controllers in a state.
func (m *Manager) in(state State) (names []string) {
	for _, status := range m.Snapshot() {
		if status.State == state {
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
	return fmt.Errorf("the API server does not have %s", resourceName(resource))
}

// missing notes that a controller waits for a resource. It is told once.
func (m *Manager) missing(c *member, resource api.GroupVersionResource) {
	err := errMissing(resource)
	m.mu.Lock()
	told := c.failed != nil && c.failed.Error() == err.Error()
	c.failed = err
	m.mu.Unlock()
	if told {
		return
	}
	m.shared.Logger.Warn().Str("controller", c.Name).Str("resource", resourceName(resource)).
		Msg("controller waits, the API server does not have its resource")
}

// started notes that a controller works; trouble is what was wrong with its resources when it began.
func (m *Manager) started(c *member, trouble map[api.GroupVersionResource]error) {
	m.shared.Logger.Info().Str("controller", c.Name).Bool("dry_run", m.shared.DryRun).Msg("controller started")
	if m.shared.Metrics != nil {
		m.shared.Metrics.Running(c.Name, true)
	}
	for resource, err := range trouble {
		m.recordWatchable(c, resource, err)
	}
}

// ended notes that a controller does not work any more; err is nil if it was told to end.
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
	line.Msg("controller has ended, the others go on")
}

// uses notes that a controller has asked for the informer of a resource.
func (m *Manager) uses(name string, resource api.GroupVersionResource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.members {
		if c.Name == name && !slices.Contains(c.uses, resource) {
			c.uses = append(c.uses, resource)
		}
	}
}

// availability returns hooks for the reflector of a resource, which see when the server stops having it, or stops showing it,
// under running controllers, and when it comes back.
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

// watchable notes whether the objects of a resource can be watched; err is why not. News are told once for each controller.
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
	name := resourceName(resource)
	switch {
	case err == nil:
		m.shared.Logger.Info().Str("controller", c.Name).Str("resource", name).Msg("controller goes on, its resource can be watched again")
	case api.IsForbidden(err):
		m.shared.Logger.Warn().Str("controller", c.Name).Str("resource", name).Err(err).
			Msg("controller waits, it has no right to watch its resource; orrery rbac --controllers prints the rights that it needs")
	default:
		m.shared.Logger.Warn().Str("controller", c.Name).Str("resource", name).Msg("controller waits, the API server does not have its resource any more")
	}
}

// recordWatchable records it as an Event of the object that stands for the resource. A standby records nothing: it does so when it
// begins to work, of what is wrong then.
func (m *Manager) recordWatchable(c *member, resource api.GroupVersionResource, err error) {
	name := resourceName(resource)
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
