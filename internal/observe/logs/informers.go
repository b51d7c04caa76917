package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"orrery/controller/events"
	"orrery/controller/leaderelection"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Informer returns hooks that log the trouble of one informer's handlers.
func (l *Logger) Informer() *informer.Trace {
	var filled sync.Once
	return &informer.Trace{
		// Not Synced: the lines of a handler about what was found in the store come before this
		// one.
		HandlerSynced: func(h informer.HandlerInfo) {
			filled.Do(func() {
				l.filled.Store(true)
				l.Info().Str("informer", h.Informer).Msg("store is filled")
			})
		},
		HandlerPanicked: func(h informer.HandlerInfo, kind informer.EventKind, key string, _ any) {
			if l.recent.due(h.Informer + " " + h.Handler + " " + kind.String()) {
				l.Error().Str("informer", h.Informer).Str("handler", h.Handler).Stringer("event", kind).Str("key", key).
					Msg("handler panicked")
			}
		},
		ProcessError: func(name string, err *informer.ProcessError) {
			if l.recent.due(name + " " + err.Error()) {
				l.Error().Str("informer", name).Err(err).Msg("event could not be applied")
			}
		},
		Mutated: func(name string, err *informer.MutationError) {
			// The error contains the object, which a log must not show.
			l.Error().Str("informer", name).Str("key", err.Key).Msg("an object of the store was changed")
		},
	}
}

// Reflector returns hooks that log the list-watch of an informer.
func (l *Logger) Reflector(name string) *reflector.Trace {
	trouble := &outage{}
	return &reflector.Trace{
		Listed: func(info reflector.ListInfo) {
			l.At(verbosityPasses).Str("informer", name).Int("items", info.Items).Bool("streamed", info.Streamed).
				Str("resource_version", info.ResourceVersion).Dur("took_s", rounded(info.Duration)).
				Msg("state received")
		},
		WatchStarted: func(opts api.ListOptions) {
			if lasted, attempts := trouble.over(); lasted > 0 {
				l.Info().Str("informer", name).Dur("after_s", rounded(lasted)).Int("attempts", attempts).
					Msg("list-watch works again")
			}
			l.At(verbosityRequests).Str("informer", name).Str("resource_version", opts.ResourceVersion).
				Bool("initial_events", opts.SendInitialEvents).Msg("watch opened")
		},
		WatchEnded: func(info reflector.WatchInfo) {
			event := l.At(verbosityRequests).Str("informer", name).Str("resource_version", info.ResourceVersion).
				Int("events", info.Events).Dur("lasted_s", rounded(info.Lasted))
			if info.Err != nil && !errors.Is(info.Err, io.EOF) {
				event = event.Err(info.Err)
			}
			event.Msg("watch ended")
		},
		BackOff: func(delay time.Duration, err error) {
			event := l.Warn()
			if reflector.CauseOf(err) == reflector.CauseExpired || leaderelection.IsLost(err) ||
				!trouble.failed(fmt.Sprint(err)) {
				// An expired position is ordinary after a pause, because the server keeps a few
				// minutes of history. The election logs the loss of the Lease.
				event = l.At(verbosityPasses)
			}
			event.Str("informer", name).Dur("wait_s", rounded(delay)).Err(err).Msg("list-watch failed, retrying")
		},
		Expired: func(resourceVersion string, err error) {
			if reflector.CauseOf(err) == reflector.CauseTooLarge {
				l.Warn().Str("informer", name).Str("resource_version", resourceVersion).Err(err).
					Msg("the server is older than its last known version, as after a restore from a backup; " +
						"listing again")
				return
			}
			l.At(verbosityPasses).Str("informer", name).Str("resource_version", resourceVersion).Err(err).
				Msg("resource version is too old, listing again")
		},
		StoreFailed: func(err *reflector.StoreError) {
			l.Error().Str("informer", name).Err(err).Msg("event could not be queued")
		},
		IdleTimeout: func(silence time.Duration) {
			l.At(verbosityPasses).Str("informer", name).Dur("silence_s", rounded(silence)).
				Msg("watch is silent, opening a new one")
		},
	}
}

// Events returns a hook that logs that Events are forbidden. The metrics count those that were
// dropped.
func (l *Logger) Events() *events.Trace {
	return &events.Trace{
		Dropped: func(ctx context.Context, event *api.Event, why events.Drop, err error) {
			if why == events.DropForbidden && err != nil {
				origin(restclient.OriginOf(ctx), l.At(verbosityPasses)).Str("in_namespace", event.Namespace).
					Dur("pause_s", events.SuppressPause).Err(err).Msg("events are forbidden, continuing without them")
			}
		},
	}
}

// Election returns hooks that log an election. Failures for the same reason are logged once a
// minute; with -v1, each.
func (l *Logger) Election() *leaderelection.Trace {
	failures := &recent{}
	return &leaderelection.Trace{
		NewLeader: func(identity string, silent time.Duration) {
			line := l.Info().Str("leader", identity)
			if silent > 0 {
				line = line.Dur("silence_s", rounded(silent))
			}
			line.Msg("standing by, another replica leads")
		},
		Acquired: func(term leaderelection.Term) {
			line := l.Info().Str("identity", term.Identity).Int("transitions", term.Transitions)
			if term.Predecessor != "" {
				line = line.Str("predecessor", term.Predecessor)
			}
			if term.Silent > 0 {
				line = line.Dur("silence_s", rounded(term.Silent))
			}
			line.Msg("became leader")
		},
		Failed: func(err error, leading bool) {
			if failures.due(fmt.Sprint(err)) {
				l.Warn().Err(err).Bool("leading", leading).Msg("an attempt to get or to keep the Lease failed")
				return
			}
			l.At(verbosityPasses).Err(err).Bool("leading", leading).
				Msg("an attempt to get or to keep the Lease failed again")
		},
		Lost: func(error) { // the last line of the run says why
			l.Warn().Msg("lost leadership, stopping at once")
		},
		Released: func(err error) {
			if err != nil {
				l.Warn().Err(err).Msg("the Lease could not be released: the other replicas wait until it expires")
				return
			}
			l.Info().Msg("released the Lease")
		},
	}
}
