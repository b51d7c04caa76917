package informertest

import (
	"context"
	"io"
	"time"

	"orrery/restclient/api"
)

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
	return &fakeWatcher[T]{source: s, ctx: ctx, bookmarks: opts.AllowWatchBookmarks, noKeepalive: s.noKeepalive, wake: make(chan struct{}, 1)}
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
