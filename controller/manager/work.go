package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/controller/events"
	"orrery/restclient"
	"orrery/restclient/api"
)

// healthy is the health check of a controller: it fails if restarting the process would help.
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

// stopMargin is how long after DrainTimeout Work still waits for a controller that does not return.
const stopMargin = 5 * time.Second

// Work lets the controllers work until stop or alive ends, see [Controller], and returns when all
// of them have ended. A controller that does not return in time is abandoned. left names it, and
// every pass that was cut short because DrainTimeout was over. Call Work once, with ended contexts
// if the controllers never got to work, so that they release their resources.
func (m *Manager) Work(stop, alive context.Context) (left []string) {
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
	case <-time.After(m.shared.DrainTimeout + stopMargin):
		left = m.unfinished()
		m.shared.Logger.Error().Str("controller", strings.Join(left, ", ")).Msg("the controllers did not stop in time, continuing without them")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return append(left, m.left...)
}

func (m *Manager) cutShort(pass string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = append(m.left, pass)
}

// launch runs a standby controller if the manager is working.
func (m *Manager) launch(c *member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.term == nil || c.state != Standby {
		return
	}
	c.state = Running
	m.running.Add(1)
	go func(term *term, trouble map[api.GroupVersionResource]error) {
		defer m.running.Done()
		m.run(c, term, trouble)
	}(m.term, maps.Clone(c.trouble))
}

// run runs a controller. If it panics it has ended, and the others continue.
func (m *Manager) run(c *member, term *term, trouble map[api.GroupVersionResource]error) {
	if term.stop.Err() == nil && term.alive.Err() == nil {
		m.started(c, trouble)
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

var errEndedEarly = errors.New("it returned without being stopped")

// watch adds an informer to those that Synced checks.
func (m *Manager) watch(w watched) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = append(m.watched, w)
}

// informerOf returns the informer of a resource; false if no controller has one.
func (m *Manager) informerOf(resource api.GroupVersionResource) (found watched, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.watched, func(w watched) bool { return w.resource == resource })
	if at < 0 {
		return watched{}, false
	}
	return m.watched[at], true
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

// Recorder returns a new recorder of Events of the process itself, which Shutdown stops.
func (m *Manager) Recorder() events.EventRecorder {
	return m.recorders.of("orrery", m.informerClient)()
}

// lastEvents is how long Shutdown waits for queued Events.
const lastEvents = 2 * time.Second

// Shutdown stops the informers, waits for the goroutines of Prepare, and sends queued Events. Call
// it when the lifetime of Prepare has ended.
func (m *Manager) Shutdown() {
	m.informers.Shutdown()
	m.looking.Wait()
	m.recorders.stop(lastEvents)
}

// silent records nothing.
type silent struct{}

func (silent) Event(context.Context, api.ObjectReference, api.EventType, string, string) {}

// recorders are the recorders of the controllers and of the process, by the reporting name of their
// Events.
type recorders struct {
	shared *Shared

	mu  sync.Mutex // guards the fields below
	all []*events.Recorder
}

// of returns the recorder of that name and starts it on first use.
func (r *recorders) of(name string, client *restclient.Client) func() events.EventRecorder {
	if !r.shared.Events || r.shared.DryRun {
		return func() events.EventRecorder { return silent{} }
	}
	return sync.OnceValue(func() events.EventRecorder {
		instance, _ := os.Hostname() // as client-go's recorders do; an error leaves the field empty
		recorder := events.Start(events.Config{Client: client, Component: name, Instance: instance, Trace: r.shared.Logger.Events()})
		r.show(name, recorder)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, recorder)
		return recorder
	})
}

// show makes the metrics count recorded and dropped Events.
func (r *recorders) show(name string, recorder *events.Recorder) {
	if server := r.shared.Server; server != nil {
		server.Show("events/"+name, func() any { return recorder.Snapshot() })
	}
	if m := r.shared.Metrics; m != nil {
		m.Events(recorder.Snapshot)
	}
}

// stop stops all recorders in parallel and lets each send its queued Events until the timeout.
func (r *recorders) stop(timeout time.Duration) {
	r.mu.Lock()
	all := slices.Clone(r.all)
	r.mu.Unlock()
	var stopping sync.WaitGroup
	for _, recorder := range all {
		stopping.Go(func() { recorder.Stop(timeout) })
	}
	stopping.Wait()
}
