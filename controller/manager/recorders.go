package manager

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"orrery/controller/events"
	"orrery/restclient"
	"orrery/restclient/api"
)

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
		recorder := events.Start(events.Config{
			Client: client, Component: name, Instance: instance, Trace: r.shared.Logger.Events(),
		})
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
