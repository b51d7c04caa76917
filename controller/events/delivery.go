package events

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

const (
	// An Event is sent up to attempts times, with attemptPause in between, while the server cannot
	// be reached. The first pause is random, so that clients do not return at the same time. As in
	// client-go.
	attempts     = 12
	attemptPause = 10 * time.Second
	// attemptLimit is how long an answer may take.
	attemptLimit = 30 * time.Second
	// SuppressPause is how long nothing is sent to a namespace after the server has forbidden it.
	// Rights change rarely.
	SuppressPause = 10 * time.Minute
)

// record correlates an Event and delivers it, until end ends.
func (r *Recorder) record(end context.Context, n note) {
	if end.Err() != nil {
		r.drop(n.ctx, n.event, DropStopped, nil)
		return
	}
	event := r.correlator.correlate(n.event, time.Now())
	switch {
	case event == nil:
		r.drop(n.ctx, n.event, DropLimited, nil)
		return
	case time.Now().Before(r.suppressed[event.Namespace]):
		r.drop(n.ctx, event, DropForbidden, nil)
		return
	}
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	defer context.AfterFunc(end, cancel)()
	r.deliver(ctx, event)
}

// deliver sends an Event until the server has answered it.
func (r *Recorder) deliver(ctx context.Context, event *api.Event) {
	pause := rand.N(attemptPause)
	for attempt := 1; ; attempt++ {
		err := r.send(ctx, event)
		if r.answered(ctx, event, err) {
			return
		}
		if attempt == attempts {
			r.drop(ctx, event, DropGivenUp, err)
			return
		}
		if wait.Sleep(ctx, pause) != nil {
			r.drop(ctx, event, DropStopped, err)
			return
		}
		pause = attemptPause
	}
}

// send makes one attempt. An Event to be counted that no longer exists is created again, with its
// count.
func (r *Recorder) send(ctx context.Context, event *api.Event) error {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	events := restclient.Typed[*api.Event](r.config.Client, api.EventsResource, event.Namespace)
	if event.Count > 1 {
		patch, err := json.Marshal(map[string]any{"count": event.Count, "lastTimestamp": event.LastTimestamp})
		if err != nil {
			return err
		}
		_, err = events.Patch(ctx, event.Name, api.MergePatchType, patch, api.UpdateOptions{})
		if !api.IsNotFound(err) {
			return err
		}
	}
	_, err := events.Create(ctx, event, api.UpdateOptions{})
	return err
}

// answered reports whether the server has answered, and counts or drops the Event accordingly. An
// Event that already exists is ours, because its name contains the nanosecond: the answer to an
// earlier attempt was lost.
func (r *Recorder) answered(ctx context.Context, event *api.Event, err error) bool {
	var refused *api.StatusError
	switch {
	case err == nil, api.IsAlreadyExists(err):
		r.mu.Lock()
		r.recorded++
		r.mu.Unlock()
	case !errors.As(err, &refused):
		return false
	case api.IsForbidden(err) && !api.IsNamespaceTerminating(err):
		r.suppressed[event.Namespace] = time.Now().Add(SuppressPause)
		r.drop(ctx, event, DropForbidden, err)
	default:
		r.drop(ctx, event, DropRefused, err)
	}
	return true
}
