package restclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"orrery/restclient/api"
)

// Watch opens a watch. It returns when the server has accepted it. The stream lasts until Stop is
// called, ctx ends or the server ends it.
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
		return requireJSON(answer)
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
	w.url, w.secrets = redactURL(x.sent.URL), x.censor(nil)
	r.client.watches.Add(1)
	if t := r.client.cfg.Trace; t != nil && t.WatchOpened != nil {
		t.WatchOpened(w.info)
	}
	return w, nil
}

// HasKeepalive reports whether the connection of a watch is tested while it is silent, judging
// by the protocol of the client's last answer. The Watcher of an open watch has the same method,
// which is exact.
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
