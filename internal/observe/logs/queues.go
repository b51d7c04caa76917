package logs

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"orrery/controller/events"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Queue returns hooks that log the work queue of a controller. A line about a key in progress has
// the id of its pass.
func (l *Logger) Queue(name, controller string) *queue.Trace[string] {
	if l.verbosity < verbosityPasses {
		return nil // a queue without a trace does not read the clock
	}
	return &queue.Trace[string]{
		Added: func(e queue.Event[string]) {
			l.passes.of(controller, e.Key, l.At(verbosityEvents)).Str("queue", name).Str("key", e.Key).Msg("queued")
		},
		Delayed: func(e queue.Event[string], wait time.Duration) {
			l.passes.of(controller, e.Key, l.At(verbosityEvents)).Str("queue", name).Str("key", e.Key).Dur("wait_s", rounded(wait)).Msg("delayed")
		},
		Retried: func(key string, requeues int, wait time.Duration) {
			l.passes.of(controller, key, l.At(verbosityPasses)).Str("queue", name).Str("key", key).Int("failures", requeues).Dur("wait_s", rounded(wait)).Msg("retry planned")
		},
		Got: func(e queue.Event[string], waited time.Duration) {
			l.At(verbosityEvents).Str("queue", name).Str("key", e.Key).Dur("waited_s", rounded(waited)).Msg("taken by a worker")
		},
		Done: func(e queue.Event[string], worked time.Duration) {
			l.At(verbosityEvents).Str("queue", name).Str("key", e.Key).Dur("worked_s", rounded(worked)).Msg("done")
		},
	}
}

// Events returns hooks that log whether recorded Events were sent, merged or dropped.
func (l *Logger) Events() *events.Trace {
	return &events.Trace{
		Recorded: func(ctx context.Context, event *api.Event) {
			l.event(ctx, verbosityRequests, event).Int("count", event.Count).Msg("event recorded")
		},
		Dropped: func(ctx context.Context, event *api.Event, why events.Drop, err error) {
			if why == events.DropForbidden {
				return // logged once, by Suppressed
			}
			l.event(ctx, verbosityPasses, event).Str("why", string(why)).AnErr("error", err).Msg("event dropped")
		},
		Suppressed: func(ctx context.Context, namespace string, err error, pause time.Duration) {
			origin(restclient.OriginOf(ctx), l.At(verbosityPasses)).Str("in_namespace", namespace).Dur("pause_s", pause).Err(err).Msg("events are forbidden, continuing without them")
		},
		Retry: func(ctx context.Context, event *api.Event, err error, pause time.Duration) {
			l.event(ctx, verbosityPasses, event).Dur("wait_s", rounded(pause)).Err(err).Msg("sending the event failed, retrying")
		},
	}
}

// event starts a line about an Event.
func (l *Logger) event(ctx context.Context, verbosity int, event *api.Event) *zerolog.Event {
	return origin(restclient.OriginOf(ctx), l.At(verbosity)).Str("kind", event.InvolvedObject.Kind).
		Str("name", event.InvolvedObject.Name).Str("reason", event.Reason)
}

// reconcileID is the field with the pass that a line belongs to.
const reconcileID = "reconcile_id"

// reconciles gives each pass an id and holds those in progress. The work queue guarantees at most
// one for each key of a controller.
type reconciles struct {
	process string // distinguishes the passes of several processes in one log
	count   atomic.Uint64

	mu       sync.Mutex
	underway map[passKey]string // guarded by mu
}

// passKey is the key of a pass. Two controllers may process the same key.
type passKey struct{ controller, key string }

func newReconciles() *reconciles {
	return &reconciles{process: strings.ToLower(rand.Text()[:6]), underway: map[passKey]string{}}
}

// begin gives a pass an id, which requests with the context carry.
func (r *reconciles) begin(ctx context.Context, controller, key string) context.Context {
	id := r.process + "-" + strconv.FormatUint(r.count.Add(1), 10)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.underway[passKey{controller, key}] = id
	return restclient.WithOrigin(ctx, id)
}

func (r *reconciles) end(controller, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.underway, passKey{controller, key})
}

// of adds the id of the pass that processes the key to a line, if there is one.
func (r *reconciles) of(controller, key string, line *zerolog.Event) *zerolog.Event {
	if line == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return origin(r.underway[passKey{controller, key}], line)
}

// origin adds the id of a pass to a line, if there is one.
func origin(id string, line *zerolog.Event) *zerolog.Event {
	if id == "" {
		return line
	}
	return line.Str(reconcileID, id)
}
