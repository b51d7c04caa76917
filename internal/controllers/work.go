package controllers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/events"
	"orrery/restclient/api"
)

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

// Work lets the controllers work until stop or alive ends, see [Controller], and returns when all
// of them have ended. One that does not end in time is left behind. Work is to be called once, also
// for controllers that never got to work, with contexts that have ended: that is how they give back
// what they have.
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
	go func(term *term, trouble map[api.GroupVersionResource]error) {
		defer m.running.Done()
		m.run(c, term, trouble)
	}(m.term, maps.Clone(c.trouble))
}

// run runs a controller. One that panics has ended, and the others go on.
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

var errEndedEarly = errors.New("it returned although nobody had told it to")

// watch notes an informer.
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

// Shutdown ends the informers, waits for what Prepare has started, and has the last Events sent. It
// is called when the lifetime that Prepare got has ended.
func (m *Manager) Shutdown() {
	m.informers.Shutdown()
	m.looking.Wait()
	m.recorders.stop(lastEvents)
}
