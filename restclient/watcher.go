package restclient

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"orrery/restclient/api"
)

// ErrWatchStopped is returned by Next after Stop.
var ErrWatchStopped = errors.New("the watch was stopped")

// watcher is an open watch over either transport. One goroutine calls Next; any may call Stop.
type watcher[T Object] struct {
	// Immutable.
	client  *Client
	ctx     context.Context // ends when the caller's context ends or Stop is called
	cancel  context.CancelCauseFunc
	body    io.ReadCloser
	decoder EventDecoder[T]
	// hasKeepalive: if the connection dies, Next returns an error within PingInterval and
	// PingTimeout.
	hasKeepalive bool
	info         RequestInfo
	opened       time.Time
	url          string
	secrets      censor // of the request

	// For the goroutine that calls Next only.
	failed error

	frames  atomic.Int64
	closing sync.Once
}

// Next blocks for the next event, see api.Watcher.
func (w *watcher[T]) Next() (api.WatchEvent[T], error) {
	if w.failed != nil {
		return api.WatchEvent[T]{}, w.failed
	}
	event, size, err := w.decoder.Next()
	if err != nil {
		return api.WatchEvent[T]{}, w.fail(err)
	}
	if event.Status != nil {
		w.secrets.status(event.Status)
	}
	w.frames.Add(1)
	if t := w.client.cfg.Trace; t != nil && t.WatchFrame != nil {
		t.WatchFrame(w.info, event.Type, size)
	}
	return event, nil
}

// Stop ends the watch, see api.Watcher.
func (w *watcher[T]) Stop() {
	w.cancel(ErrWatchStopped)
	w.close(ErrWatchStopped)
}

func (w *watcher[T]) close(why error) {
	w.closing.Do(func() {
		w.cancel(io.EOF)
		w.body.Close()
		w.client.pool.connections.release()
		w.client.watches.Add(-1)
		if t := w.client.cfg.Trace; t != nil && t.WatchClosed != nil {
			t.WatchClosed(w.info, w.frames.Load(), time.Since(w.opened), why)
		}
	})
}
