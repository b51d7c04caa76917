package restclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"orrery/restclient/api"
)

// Get returns one object.
func (r *Resource[T]) Get(ctx context.Context, name string, opts api.GetOptions) (T, error) {
	req, err := r.objectRequest("get", http.MethodGet, "", name)
	if err != nil {
		var none T
		return none, err
	}
	req.Query = opts.Query()
	return r.one(ctx, req)
}

// List fetches the collection, or one page of it if opts.Limit is set. Items are decoded as they
// arrive.
func (r *Resource[T]) List(ctx context.Context, opts api.ListOptions) (*api.List[T], error) {
	req, err := r.request("list", http.MethodGet, "", "")
	if err != nil {
		return nil, err
	}
	req.Query = opts.Query()
	req.Accept = r.decoder.Accept().List
	list, err := r.many(ctx, req)
	if err == nil && list == nil {
		err = &DecodeError{Verb: req.method(), URL: req.Path, Err: errNotAList}
	}
	return list, err
}

var errNotAList = errors.New("a Status where a list should be")

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
		return w.open(r.decoder, answer.Header.Get("Content-Type"), answer.Body)
	}
	if r.client.cfg.WatchTransport == WatchWebSocket {
		x.req.Accept = r.decoder.Accept().WebSocket
		dialer := &webSocketDialer{client: r.client}
		x.send = dialer.dial
		x.consume = func(*http.Response) error {
			if dialer.stream == nil {
				return errNoUpgrade
			}
			w.hasKeepalive = true
			return w.open(r.decoder, jsonMediaType, &body{ReadCloser: dialer.stream})
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

// one sends a request that is answered with an object.
func (r *Resource[T]) one(ctx context.Context, req Request) (T, error) {
	var object T
	x := &exchange{client: r.client, req: req}
	x.consume = func(answer *http.Response) error {
		data, err := readBounded(answer.Body, r.client.cfg.MaxBodyBytes)
		if err == nil {
			object, err = r.decoder.Object(answer.Header.Get("Content-Type"), data)
		}
		if err == nil && r.client.cfg.Trace != nil {
			x.last.ResourceVersion = object.GetResourceVersion()
		}
		return err
	}
	err := x.run(ctx)
	return object, err
}

// many sends a request that is answered with a list; nil without an error is a Status that reports
// success.
func (r *Resource[T]) many(ctx context.Context, req Request) (list *api.List[T], err error) {
	x := &exchange{client: r.client, req: req}
	x.consume = func(answer *http.Response) (err error) {
		bounded := &listBody{Reader: answer.Body, limit: r.client.cfg.MaxListBytes}
		list, err = r.decoder.List(answer.Header.Get("Content-Type"), bounded, r.client.cfg.MaxFrameBytes)
		return err
	}
	if err := x.run(ctx); err != nil {
		return nil, err
	}
	return list, nil
}

// Create stores a new object and returns it as the server completed it. In a resource of all
// namespaces it uses the object's own namespace.
func (r *Resource[T]) Create(ctx context.Context, object T, opts api.UpdateOptions) (T, error) {
	req, err := r.request("create", http.MethodPost, r.namespaceOf(object), "")
	return r.write(ctx, req, err, object, opts)
}

// Update replaces an object. If the object has a resource version and the server has a newer
// one the answer is a conflict (api.IsConflict).
func (r *Resource[T]) Update(ctx context.Context, object T, opts api.UpdateOptions) (T, error) {
	req, err := r.objectRequest("update", http.MethodPut, r.namespaceOf(object), object.GetName())
	return r.write(ctx, req, err, object, opts)
}

// UpdateStatus replaces the status of an object and nothing else.
func (r *Resource[T]) UpdateStatus(ctx context.Context, object T, opts api.UpdateOptions) (T, error) {
	return r.UpdateSubresource(ctx, object.GetName(), "status", object, opts)
}

// UpdateSubresource replaces a subresource of the object name: "status", "finalize",
// "scale".
func (r *Resource[T]) UpdateSubresource(ctx context.Context, name, subresource string, object T, opts api.UpdateOptions) (T, error) {
	req, err := r.objectRequest("update", http.MethodPut, r.namespaceOf(object), name, subresource)
	return r.write(ctx, req, err, object, opts)
}

// Patch applies a patch to an object or to one of its subresources.
func (r *Resource[T]) Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions, subresources ...string) (T, error) {
	req, err := r.objectRequest("patch", http.MethodPatch, "", name, subresources...)
	if err != nil {
		var none T
		return none, err
	}
	req.Query = opts.Query()
	req.Body, req.ContentType = patch, string(kind)
	return r.one(ctx, req)
}

// Delete deletes one object. Nil means that the server has accepted it: an object with finalizers
// or with a grace period still exists.
func (r *Resource[T]) Delete(ctx context.Context, name string, opts api.DeleteOptions) error {
	req, err := r.objectRequest("delete", http.MethodDelete, "", name)
	if err != nil {
		return err
	}
	if req.Body, err = json.Marshal(opts); err != nil {
		return err
	}
	req.Accept = jsonMediaType
	return r.client.Do(ctx, req, nil)
}

// DeleteCollection deletes all objects that listOpts select, and returns what the server found
// there: kube-apiserver answers with the list that it read (consistently) before it deleted, so
// that an empty one proves that there was nothing. It does not say that what was found is gone, see
// Delete. A server that answers with a bare Status leaves listed false and found nil.
func (r *Resource[T]) DeleteCollection(ctx context.Context, opts api.DeleteOptions, listOpts api.ListOptions) (found *api.List[T], listed bool, err error) {
	req, err := r.request("deletecollection", http.MethodDelete, "", "")
	if err != nil {
		return nil, false, err
	}
	if req.Body, err = json.Marshal(opts); err != nil {
		return nil, false, err
	}
	req.Query = listOpts.Query()
	req.Accept = r.decoder.Accept().List
	found, err = r.many(ctx, req)
	return found, found != nil, err
}

// write sends an object; err is the error of building the request.
func (r *Resource[T]) write(ctx context.Context, req Request, err error, object T, opts api.UpdateOptions) (T, error) {
	var none T
	if err == nil && r.readOnly {
		err = ErrReadOnly
	}
	if err != nil {
		return none, err
	}
	if req.Body, err = json.Marshal(object); err != nil {
		return none, fmt.Errorf("%s %s: the object cannot be encoded: %w", req.method(), req.Path, err)
	}
	req.Query = opts.Query()
	return r.one(ctx, req)
}

// namespaceOf returns the namespace of the resource, or the object's own if the resource has none.
func (r *Resource[T]) namespaceOf(object T) string {
	if r.namespace != "" {
		return r.namespace
	}
	return object.GetNamespace()
}
