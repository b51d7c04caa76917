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
	// attempts and attemptPause are how often and how far apart an Event is sent to a server that cannot be reached; the
	// first pause is random, so that many clients do not come back at once. As in client-go.
	attempts     = 12
	attemptPause = 10 * time.Second
	// attemptLimit is how long an answer may take.
	attemptLimit = 30 * time.Second
	// mutePause is how long after a refusal for lack of rights nothing is sent. Rights change rarely.
	mutePause = 10 * time.Minute
)

// muteKey is what the server has forbidden.
type muteKey struct {
	namespace string
	patch     bool // counting, as opposed to all of it
}

// record decides what becomes of an Event and has it sent. end ends what is under way.
//
// A hook that panics must not end the recorder: the goroutine has nobody else to keep that.
func (r *Recorder) record(end context.Context, n note) {
	defer wait.HandleCrash()
	if end.Err() != nil {
		r.drop(n.ctx, n.event, DropStopped, nil)
		return
	}
	event := r.correlator.correlate(n.event, time.Now())
	switch {
	case event == nil:
		r.drop(n.ctx, n.event, DropLimited, nil)
		return
	case r.isMuted(event):
		r.drop(n.ctx, event, DropForbidden, nil)
		return
	}
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	defer context.AfterFunc(end, cancel)()
	r.deliver(ctx, event)
}

// deliver sends an Event until the server has answered.
func (r *Recorder) deliver(ctx context.Context, event *api.Event) {
	for attempt := 1; ; attempt++ {
		err := r.send(ctx, event)
		if r.settled(ctx, event, err) {
			return
		}
		if attempt == attempts {
			r.drop(ctx, event, DropGivenUp, err)
			return
		}
		pause := attemptPause
		if attempt == 1 {
			pause = rand.N(attemptPause)
		}
		if t := r.trace; t != nil && t.Retry != nil && ctx.Err() == nil {
			t.Retry(ctx, event, err, pause)
		}
		if wait.Sleep(ctx, pause) != nil {
			r.drop(ctx, event, DropStopped, err)
			return
		}
	}
}

// send makes one attempt. An Event that is to be counted and has gone meanwhile is created anew, count and all.
func (r *Recorder) send(ctx context.Context, event *api.Event) error {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	events := restclient.Typed[*api.Event](r.client, api.EventsResource, event.Namespace)
	if event.Count > 1 {
		patch, err := json.Marshal(countPatch{Count: event.Count, LastTimestamp: event.LastTimestamp, Message: event.Message})
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

// countPatch is what changes in an Event when the same happens again. The message does if it stands for several.
type countPatch struct {
	Count         int      `json:"count"`
	LastTimestamp api.Time `json:"lastTimestamp"`
	Message       string   `json:"message"`
}

// settled tells whether the server has spoken, whatever it said, and draws the consequences. After an answer that cannot
// be read the Event is there, and one that exists already is ours: its name has the nanosecond in it, so what has come
// twice is an attempt whose answer got lost.
func (r *Recorder) settled(ctx context.Context, event *api.Event, err error) bool {
	var refused *api.StatusError
	var unreadable *restclient.DecodeError
	switch {
	case err == nil, errors.As(err, &unreadable), api.IsAlreadyExists(err):
		r.recorded(ctx, event)
	case !errors.As(err, &refused):
		return false
	case api.IsForbidden(err) && !api.IsNamespaceTerminating(err):
		r.mute(ctx, event, err)
		r.drop(ctx, event, DropForbidden, err)
	default:
		r.drop(ctx, event, DropRefused, err)
	}
	return true
}

func (r *Recorder) isMuted(event *api.Event) bool {
	now := time.Now()
	return now.Before(r.muted[muteKey{namespace: event.Namespace}]) ||
		event.Count > 1 && now.Before(r.muted[muteKey{namespace: event.Namespace, patch: true}])
}

// mute stops sending for a while. Who may not count may still be allowed to create.
func (r *Recorder) mute(ctx context.Context, event *api.Event, err error) {
	r.muted[muteKey{namespace: event.Namespace, patch: event.Count > 1}] = time.Now().Add(mutePause)
	if t := r.trace; t != nil && t.Muted != nil {
		t.Muted(ctx, event.Namespace, err, mutePause)
	}
}
