package informertest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"orrery/restclient/api"
)

// StreamingList is how a [FakeSource] answers a request for a streaming list (sendInitialEvents).
type StreamingList int

const (
	// StreamingSupported sends the initial events and the bookmark after them.
	StreamingSupported StreamingList = iota
	// StreamingRefused answers 422 Invalid, as servers with the feature switched off do.
	StreamingRefused
	// StreamingIgnored ignores the parameter: an ordinary watch.
	StreamingIgnored
	// StreamingWithoutBookmark sends the initial events and never marks their end (kubernetes
	// issues 135895 and 139716).
	StreamingWithoutBookmark
)

// Behaviour is how a [FakeSource] behaves. The zero value is a good server.
type Behaviour struct {
	Streaming   StreamingList
	PageAlways  bool          // honour the limit of a list at version "0" too, like a server without a watch cache
	Latency     time.Duration // of every answer
	NoKeepalive bool          // of later watches, as over HTTP/1.1 (see reflector.ListerWatcher)
	Endless     bool          // later watches ignore the requested time limit
}

// Change changes the behaviour of the source.
func (s *FakeSource[T]) Change(change func(b *Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.behaviour)
}

// HasKeepalive reports whether new watches have a keepalive.
func (s *FakeSource[T]) HasKeepalive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.behaviour.NoKeepalive
}

// FailList makes the next list requests (one per page) fail, one error each. A nil error lets one
// succeed.
func (s *FakeSource[T]) FailList(errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listFaults = append(s.listFaults, errs...)
}

// FailWatch makes the next watch requests fail, one error each. A nil error lets one succeed.
func (s *FakeSource[T]) FailWatch(errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchFault = append(s.watchFault, errs...)
}

// ClearFaults drops the remaining errors of FailList and FailWatch.
func (s *FakeSource[T]) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listFaults, s.watchFault = nil, nil
}

// Hold makes all requests wait until release is called or their context ends. Open watches
// continue.
func (s *FakeSource[T]) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.hold = held
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.hold == held {
			s.hold = nil
			close(held)
		}
	}
}

// admit records a request and applies its delays and failures.
func (s *FakeSource[T]) admit(ctx context.Context, verb string, opts api.ListOptions) error {
	s.mu.Lock()
	s.requests = append(s.requests, Request{Verb: verb, Options: opts, At: time.Now()})
	faults := &s.listFaults
	if verb == "watch" {
		faults = &s.watchFault
	}
	var fault error
	if len(*faults) > 0 {
		fault, *faults = (*faults)[0], (*faults)[1:]
	}
	hold, latency := s.hold, s.behaviour.Latency
	s.mu.Unlock()

	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	if latency > 0 {
		timer := time.NewTimer(latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fault
}

// Expire drops the history and the continue tokens, like a compaction of etcd: a watch or a page at
// a version before the present one is answered with 410 from now on. Open watches continue.
func (s *FakeSource[T]) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = nil
	s.oldest = s.version
	clear(s.pages)
}

// Send sends an arbitrary event on every open watch. It is not part of the history.
func (s *FakeSource[T]) Send(event api.WatchEvent[T]) {
	s.eachWatcher(func(w *fakeWatcher[T]) { w.pushLocked(event) })
}

func (s *FakeSource[T]) eachWatcher(do func(w *fakeWatcher[T])) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers {
		do(w)
	}
}

// SendError sends an ERROR event on every open watch and ends it.
func (s *FakeSource[T]) SendError(err *api.StatusError) {
	status := err.Status
	s.Send(api.WatchEvent[T]{Type: api.WatchError, Status: &status})
	s.Cut(nil)
}

// SendBookmark sends the present version to every open watch that requested bookmarks.
func (s *FakeSource[T]) SendBookmark() {
	s.eachWatcher(func(w *fakeWatcher[T]) {
		if w.bookmarks {
			w.pushLocked(api.WatchEvent[T]{Type: api.WatchBookmark, ResourceVersion: s.versionLocked()})
		}
	})
}

// SendInitialBookmark ends the initial events of every open watch at the present version.
func (s *FakeSource[T]) SendInitialBookmark() {
	s.Send(api.WatchEvent[T]{Type: api.WatchBookmark, ResourceVersion: s.ResourceVersion(), InitialEventsEnd: true})
}

// Cut ends every open watch with err, after the events already sent; nil means io.EOF, a normal
// end.
func (s *FakeSource[T]) Cut(err error) {
	s.eachWatcher(func(w *fakeWatcher[T]) { w.endLocked(err) })
}

// Silence turns every open watch into a half-open connection: nothing arrives any more, not even
// its end. Later watches are not affected.
func (s *FakeSource[T]) Silence() {
	s.eachWatcher(func(w *fakeWatcher[T]) { w.queue, w.silent = nil, true })
}

// StatusError returns a refusal in the words of an API server.
func StatusError(code int, reason api.StatusReason, message string) *api.StatusError {
	return &api.StatusError{Status: api.Status{Status: "Failure", Code: code, Reason: reason, Message: message}}
}

// Expired returns the 410 refusal of a version that is too old.
func Expired(message string) *api.StatusError {
	return StatusError(http.StatusGone, api.ReasonExpired, message)
}

// TooManyRequests returns the 429 refusal, with the time that the server asks to wait.
func TooManyRequests(retryAfter time.Duration) *api.StatusError {
	err := StatusError(http.StatusTooManyRequests, api.ReasonTooManyRequests,
		"too many requests, please try again later")
	err.RetryAfter = retryAfter
	return err
}

// TooLargeResourceVersion returns the 504 refusal of a version that the server has not reached.
func TooLargeResourceVersion(asked, current uint64) *api.StatusError {
	err := StatusError(http.StatusGatewayTimeout, api.ReasonTimeout,
		fmt.Sprintf("Too large resource version: %d, current: %d", asked, current))
	err.Status.Details = &api.StatusDetails{Causes: []api.StatusCause{{Type: api.CauseResourceVersionTooLarge}}}
	return err
}

// fakeWatcher is an open watch of a [FakeSource]. Its queue is unbounded, so that the source never
// blocks on its readers.
type fakeWatcher[T Object] struct {
	source      *FakeSource[T]
	ctx         context.Context
	bookmarks   bool
	noKeepalive bool

	wake chan struct{} // has one token if the reader should check again

	// Guarded by source.mu:
	queue  []api.WatchEvent[T]
	silent bool        // a half-open connection: nothing arrives any more
	ended  error       // why the stream ends once the queue is empty
	limit  *time.Timer // the server's time limit for the request
}

func newFakeWatcher[T Object](ctx context.Context, s *FakeSource[T], opts api.ListOptions) *fakeWatcher[T] {
	return &fakeWatcher[T]{source: s, ctx: ctx, bookmarks: opts.AllowWatchBookmarks,
		noKeepalive: s.behaviour.NoKeepalive,
		wake:        make(chan struct{}, 1)}
}

// Next returns the next event. After Stop it returns context.Canceled.
func (w *fakeWatcher[T]) Next() (api.WatchEvent[T], error) {
	for {
		event, ready, err := w.poll()
		if ready || err != nil {
			return event, err
		}
		select {
		case <-w.wake:
		case <-w.ctx.Done():
			w.Stop()
		}
	}
}

// HasKeepalive reports whether the connection counts as having a keepalive.
func (w *fakeWatcher[T]) HasKeepalive() bool { return !w.noKeepalive }

func (w *fakeWatcher[T]) poll() (event api.WatchEvent[T], ready bool, err error) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if len(w.queue) > 0 {
		event, w.queue = w.queue[0], w.queue[1:]
		return event, true, nil
	}
	if w.ended != nil {
		w.forgetLocked()
	}
	return event, false, w.ended
}

// Stop ends the watch and drops its queue, like a closed connection.
func (w *fakeWatcher[T]) Stop() {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.queue = nil
	w.endLocked(context.Canceled)
	w.forgetLocked()
}

// end ends the stream with err after the queued events.
func (w *fakeWatcher[T]) end(err error) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.endLocked(err)
}

func (w *fakeWatcher[T]) endLocked(err error) {
	if err == nil {
		err = io.EOF
	}
	if w.ended == nil && (!w.silent || err == context.Canceled) {
		w.ended = err
		w.wakeLocked()
	}
}

func (w *fakeWatcher[T]) pushLocked(event api.WatchEvent[T]) {
	if w.silent || w.ended != nil {
		return
	}
	w.queue = append(w.queue, event)
	w.wakeLocked()
}

func (w *fakeWatcher[T]) wakeLocked() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *fakeWatcher[T]) forgetLocked() {
	delete(w.source.watchers, w)
	if w.limit != nil {
		w.limit.Stop()
	}
}
