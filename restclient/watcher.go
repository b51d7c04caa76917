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

// ErrWatchStopped is what Next returns after Stop.
var ErrWatchStopped = errors.New("the watch was stopped")

// watcher is an open watch over either transport. Next belongs to one goroutine; Stop may be called from any.
type watcher[T Object] struct {
	// Immutable.
	client  *Client
	ctx     context.Context // ends when the caller's context ends or Stop is called
	cancel  context.CancelCauseFunc
	body    io.ReadCloser
	decoder EventDecoder[T]
	// provesLife: if the connection dies, Next returns an error within PingInterval and PingTimeout.
	provesLife bool
	info       RequestInfo
	opened     time.Time
	url        string
	secrets    censor // of the request

	// Of the goroutine that calls Next.
	failed error

	frames  atomic.Int64
	closing sync.Once
}

// open starts to decode an answer. A failure counts as that of the request.
func (w *watcher[T]) open(decoder Decoder[T], contentType string, body io.ReadCloser) (err error) {
	w.body = body
	w.decoder, err = decoder.Events(contentType, body, w.client.cfg.MaxFrameBytes)
	return err
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
	w.secrets.status(event.Status)
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

func (w *watcher[T]) fail(err error) error {
	w.failed = w.secrets.error(w.describe(err)) // before close ends the context
	w.close(w.failed)
	return w.failed
}

// describe says why no more events come. A reader that is stopped sees its connection break in one way or another; what
// counts then is that it was stopped.
func (w *watcher[T]) describe(err error) error {
	broken := brokenBody(err)
	switch {
	case w.ctx.Err() != nil && errors.Is(context.Cause(w.ctx), ErrWatchStopped):
		return ErrWatchStopped
	case w.ctx.Err() != nil:
		return &TransportError{Kind: kindOf(w.ctx, w.ctx.Err()), Verb: w.info.Method, URL: w.url, Err: w.ctx.Err()}
	case err == io.EOF:
		return io.EOF
	case broken != nil:
		return &TransportError{Kind: kindOf(w.ctx, broken), Verb: w.info.Method, URL: w.url, Err: broken}
	}
	return &DecodeError{Verb: w.info.Method, URL: w.url, Err: err}
}

// ProvesLife reports whether the connection is tested while nothing comes: then silence means that nothing happens. Over
// HTTP/1.1 there is no such test, and a connection of which the other end has gone looks like one on which nothing happens.
func (w *watcher[T]) ProvesLife() bool { return w.provesLife }

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
