package restclient

import (
	"context"
	"errors"
	"io"
	"net/http"
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

// Watch opens a watch, and returns when the server has accepted it. It lasts until Stop is called,
// ctx ends or the server ends it.
func (r *Resource[T]) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error) {
	req, err := r.request("watch", http.MethodGet, "", "")
	if err != nil {
		return nil, err
	}
	req.Query = opts.Query()
	req.Query.Set("watch", "true")

	watchCtx, cancel := context.WithCancelCause(ctx)
	x := &exchange{client: r.client, req: req}
	x.endless = true
	w := &watcher[T]{client: r.client, ctx: watchCtx, cancel: cancel}
	x.consume = func(answer *http.Response) error {
		w.hasKeepalive = answer.ProtoMajor >= 2
		w.open(r.decoder, answer.Body)
		return nil
	}
	if r.client.cfg.WatchTransport == WatchWebSocket {
		dialer := &webSocketDialer{client: r.client}
		x.send = dialer.dial
		x.consume = func(*http.Response) error {
			if dialer.stream == nil {
				return errNoUpgrade
			}
			w.hasKeepalive = true
			w.open(r.decoder, &body{ReadCloser: dialer.stream})
			return nil
		}
	}
	r.client.pool.connections.use() // until the watcher is closed
	if err := x.run(watchCtx); err != nil {
		r.client.pool.connections.release()
		cancel(err)
		return nil, err
	}
	w.info, w.opened = x.req.info(1), time.Now()
	w.url, w.secrets = redactURL(x.sent.URL), x.censor()
	r.client.watches.Add(1)
	if t := r.client.cfg.Trace; t != nil && t.WatchOpened != nil {
		t.WatchOpened(w.info)
	}
	return w, nil
}

// HasKeepalive reports whether the connection of a watch is tested while it is silent, judging by
// the protocol of the client's last answer. An open watch has the same method, which is exact.
func (r *Resource[T]) HasKeepalive() bool {
	return r.client.cfg.WatchTransport == WatchWebSocket || !r.client.pool.withoutPings.Load()
}

// open starts to decode an answer.
func (w *watcher[T]) open(decoder Decoder[T], body io.ReadCloser) {
	w.body, w.decoder = body, decoder.Events(body, w.client.cfg.MaxFrameBytes)
}

// HasKeepalive reports whether the connection has a keepalive. HTTP/1.1 has none, so a dead
// connection looks like an idle one.
func (w *watcher[T]) HasKeepalive() bool { return w.hasKeepalive }

func (w *watcher[T]) fail(err error) error {
	w.failed = w.secrets.error(w.describe(err)) // before close ends the context
	w.close(w.failed)
	return w.failed
}

// describe returns the reason for the end of the watch. A connection that breaks after Stop was
// stopped.
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
