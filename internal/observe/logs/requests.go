package logs

import (
	"sync"
	"time"

	"orrery/restclient"
)

// throttleNotice is how long a request waits for the client's own rate limit before that is logged.
const throttleNotice = time.Second

// Requests returns hooks that log requests to the API server.
func (l *Logger) Requests() *restclient.Trace {
	slow := &slowStart{Logger: l, waiting: map[uint64]*slowRequest{}}
	return &restclient.Trace{
		RequestStart: slow.started,
		Finished:     func(info restclient.RequestInfo, _ restclient.RequestResult) { slow.ended(info) },
		RequestDone: func(info restclient.RequestInfo, result restclient.RequestResult) {
			if info.Verb == "watch" {
				slow.ended(info) // open; it has no other end
			}
			origin(info.Origin, l.At(verbosityRequests)).Str("method", info.Method).Str("path", info.Path).
				Int("code", result.Code).Dur("took_s", rounded(result.Duration)).Err(result.Err).Msg("request")
		},
		Retry: func(info restclient.RequestInfo, wait time.Duration, err error) {
			slow.failed(info, err)
			origin(info.Origin, l.At(verbosityPasses)).Str("method", info.Method).Str("path", info.Path).
				Int("attempt", info.Attempt).Dur("wait_s", rounded(wait)).Err(err).Msg("request failed, retrying")
		},
		Throttled: func(info restclient.RequestInfo, wait time.Duration) {
			if wait >= throttleNotice {
				origin(info.Origin, l.Warn()).Str("method", info.Method).Str("path", info.Path).Dur("waited_s",
					rounded(wait)).Msg("request waited for the client's own rate limit, see --kube-api-qps")
			}
		},
		Warning: l.warned,
	}
}

// warned logs a warning of the API server, or of the client itself. A server repeats its warnings
// with every request.
func (l *Logger) warned(warning restclient.Warning) {
	switch {
	case !l.recent.due(warning.Text):
	case warning.Code == 0: // the client's own
		l.Warn().Str("warning", warning.Text).Msg("the connection is not safe")
	default: // mostly of deprecated types, which an operator cannot change
		origin(warning.Origin, l.At(verbosityPasses)).Str("warning", warning.Text).Msg("the API server warns")
	}
}

// slowNotice is how long a request may take at the start before a line says so: without one, a
// server that throttles or is silent looks like a program that hangs.
const slowNotice = 3 * time.Second

// slowStart warns of requests that take long until the first store is filled. Later such a request
// holds up one pass or one informer, and they have lines of their own.
type slowStart struct {
	*Logger

	mu      sync.Mutex              // guards the fields below
	waiting map[uint64]*slowRequest // by the request's ID
}

// slowRequest is a request that has not ended.
type slowRequest struct {
	restclient.RequestInfo // of the last attempt
	timer                  *time.Timer
	since                  time.Time
	err                    error // of the last attempt
}

func (s *slowStart) started(info restclient.RequestInfo) {
	if s.filled.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[info.ID]; w != nil {
		w.RequestInfo = info
		return
	}
	s.waiting[info.ID] = &slowRequest{
		RequestInfo: info, since: time.Now(), timer: time.AfterFunc(slowNotice, func() { s.warn(info.ID) }),
	}
}

func (s *slowStart) failed(info restclient.RequestInfo, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[info.ID]; w != nil {
		w.err = err
	}
}

func (s *slowStart) ended(info restclient.RequestInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[info.ID]; w != nil {
		w.timer.Stop()
		delete(s.waiting, info.ID)
	}
}

// warn logs a request that is waited for, and again each time that the wait has doubled.
func (s *slowStart) warn(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[id]
	if w == nil || s.filled.Load() {
		return
	}
	waited := time.Since(w.since)
	w.timer.Reset(waited)
	s.Warn().Str("method", w.Method).Str("path", w.Path).Dur("waited_s", rounded(waited)).Int("attempts", w.Attempt).
		AnErr("error", w.err).Msg("still waiting for an answer of the API server")
}
