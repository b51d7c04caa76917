package logs

import (
	"errors"
	"fmt"
	"io"
	"time"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/leaderelection"
	"orrery/restclient/api"
)

// Informer returns hooks that tell what an informer's handlers have to do with.
func (l *Logger) Informer() *informer.Trace {
	return &informer.Trace{
		Synced: func(name string) {
			l.Info().Str("informer", name).Msg("store is filled")
		},
		HandlerLagging: func(h informer.HandlerInfo, pending int) {
			l.Warn().Str("informer", h.Informer).Str("handler", h.Handler).Int("pending", pending).Msg("handler cannot keep up")
		},
		HandlerStuck: func(s informer.StuckHandler) {
			l.Warn().Str("informer", s.Informer).Str("handler", s.Handler).Stringer("event", s.Event).Str("key", s.Key).
				Dur("running_s", rounded(s.Running)).Int("pending", s.Pending).Msg("handler does not return")
		},
		HandlerPanicked: func(h informer.HandlerInfo, kind informer.EventKind, key string, _ any) {
			l.Error().Str("informer", h.Informer).Str("handler", h.Handler).Stringer("event", kind).Str("key", key).Msg("handler panicked")
		},
		ProcessError: func(name string, err *informer.ProcessError) {
			l.Error().Str("informer", name).Err(err).Msg("event could not be applied")
		},
		Mutated: func(name string, err *informer.MutationError) {
			// The error shows the object; a log must not.
			l.Error().Str("informer", name).Str("key", err.Key).Msg("somebody changed a shared object")
		},
		Distributed: l.distributed,
	}
}

func (l *Logger) distributed(kind informer.EventKind, key string, listeners int) {
	l.at(verbosityEvents).Stringer("event", kind).Str("key", key).Int("handlers", listeners).Msg("event distributed")
}

// Reflector returns hooks that tell how the list-watch of an informer goes.
func (l *Logger) Reflector(name string) *reflector.Trace {
	trouble := &outage{}
	return &reflector.Trace{
		Listed: func(info reflector.ListInfo) {
			l.at(verbosityPasses).Str("informer", name).Int("items", info.Items).Bool("streamed", info.Streamed).
				Str("resource_version", info.ResourceVersion).Dur("took_s", rounded(info.Duration)).Msg("state received")
		},
		StreamingListAbandoned: func(err error) {
			l.at(verbosityPasses).Str("informer", name).Err(err).Msg("no streaming list here, listing instead")
		},
		WatchStarted: func(opts api.ListOptions) {
			if lasted, attempts := trouble.over(); lasted > 0 {
				l.Info().Str("informer", name).Dur("after_s", rounded(lasted)).Int("attempts", attempts).Msg("list-watch works again")
			}
			l.at(verbosityRequests).Str("informer", name).Str("resource_version", opts.ResourceVersion).
				Bool("initial_events", opts.SendInitialEvents).Msg("watch opened")
		},
		WatchEnded: func(info reflector.WatchInfo) {
			event := l.at(verbosityRequests).Str("informer", name).Str("resource_version", info.ResourceVersion).
				Int("events", info.Events).Dur("lasted_s", rounded(info.Lasted))
			if info.Err != nil && !errors.Is(info.Err, io.EOF) {
				event = event.Err(info.Err)
			}
			event.Msg("watch ended")
		},
		BackOff: func(delay time.Duration, err error) {
			event := l.Warn()
			if reflector.CauseOf(err) == reflector.CauseExpired || errors.Is(err, leaderelection.ErrFenced) || !trouble.failed(fmt.Sprint(err)) {
				// An expired position is ordinary after a pause: the server keeps a few minutes of history. What is cut off because
				// the lease was lost is told by the election. And what was told a moment ago is no news.
				event = l.at(verbosityPasses)
			}
			event.Str("informer", name).Dur("wait_s", rounded(delay)).Err(err).Msg("list-watch failed, it is going to be repeated")
		},
		Expired: func(resourceVersion string, err error) {
			if reflector.CauseOf(err) == reflector.CauseTooLarge {
				l.Warn().Str("informer", name).Str("resource_version", resourceVersion).Err(err).
					Msg("the server is behind what was seen of it, as after a restore from a backup; listing again")
				return
			}
			l.at(verbosityPasses).Str("informer", name).Str("resource_version", resourceVersion).Err(err).Msg("position is too old, listing again")
		},
		StoreFailed: func(err *reflector.StoreError) {
			l.Error().Str("informer", name).Err(err).Msg("event could not be queued")
		},
		IdleTimeout: func(silence time.Duration) {
			l.at(verbosityPasses).Str("informer", name).Dur("silence_s", rounded(silence)).Msg("watch is silent, opening a new one")
		},
	}
}
