package controllers

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"orrery/internal/observe/events"
	"orrery/restclient"
	"orrery/restclient/api"
)

// silent records nothing.
type silent struct{}

func (silent) Event(context.Context, api.ObjectReference, api.EventType, string, string) {}

// recorders are those of the controllers and of the process itself, by the name that their Events carry.
type recorders struct {
	shared *Shared

	mu  sync.Mutex // guards what follows
	all []*events.Recorder
}

// of returns a recorder that starts when it is first asked for.
func (r *recorders) of(name string, client *restclient.Client) func() events.EventRecorder {
	if !r.shared.Events || r.shared.DryRun {
		return func() events.EventRecorder { return silent{} }
	}
	return sync.OnceValue(func() events.EventRecorder {
		instance, _ := os.Hostname() // as client-go's recorders do; without a name nothing is lost but that
		recorder := events.Start(events.Config{Client: client, Component: name, Instance: instance, Trace: r.shared.Logger.Events()})
		r.show(name, recorder)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.all = append(r.all, recorder)
		return recorder
	})
}

// show makes the metrics count what a recorder records and drops.
func (r *recorders) show(name string, recorder *events.Recorder) {
	if server := r.shared.Server; server != nil {
		server.Show("events/"+name, func() any { return recorder.Snapshot() })
	}
	m := r.shared.Metrics
	if m == nil {
		return
	}
	m.Recorded(func() int64 {
		s := recorder.Snapshot()
		return s.Created + s.Counted
	})
	for _, why := range slices.Sorted(maps.Keys(recorder.Snapshot().Dropped)) {
		m.Dropped("events", strings.ReplaceAll(string(why), " ", "_"), func() int64 { return recorder.Snapshot().Dropped[why] })
	}
}

// stop has what waits sent, for at most that long, by all recorders side by side.
func (r *recorders) stop(patience time.Duration) {
	r.mu.Lock()
	all := slices.Clone(r.all)
	r.mu.Unlock()
	var stopping sync.WaitGroup
	for _, recorder := range all {
		stopping.Go(func() { recorder.Stop(patience) })
	}
	stopping.Wait()
}
