package manager

import (
	"context"
	"os"
	"slices"
	"sync"

	"orrery/controller/events"
	"orrery/restclient"
	"orrery/restclient/api"
)

// silent records nothing.
type silent struct{}

func (silent) Event(context.Context, api.ObjectReference, api.EventType, string, string) {}

// recorder returns the recorder of Events with that reporting name, and starts it on first use.
func (m *Manager) recorder(name string, client *restclient.Client) func() events.EventRecorder {
	if !m.shared.Events || m.shared.DryRun {
		return func() events.EventRecorder { return silent{} }
	}
	return sync.OnceValue(func() events.EventRecorder {
		instance, _ := os.Hostname() // as client-go's recorders do; an error leaves the field empty
		recorder := events.Start(events.Config{
			Client: client, Component: name, Instance: instance, Trace: m.shared.Logger.Events(),
		})
		if server := m.shared.Server; server != nil {
			server.Show("events/"+name, func() any { return recorder.Snapshot() })
		}
		if metrics := m.shared.Metrics; metrics != nil {
			metrics.Events(recorder.Snapshot)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.recorders = append(m.recorders, recorder)
		return recorder
	})
}

// stopRecorders stops all recorders in parallel, and lets each send its queued Events for a while.
func (m *Manager) stopRecorders() {
	m.mu.Lock()
	all := slices.Clone(m.recorders)
	m.mu.Unlock()
	var stopping sync.WaitGroup
	for _, recorder := range all {
		stopping.Go(func() { recorder.Stop(lastEvents) })
	}
	stopping.Wait()
}
