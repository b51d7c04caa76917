package restclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

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

// List fetches the collection, or one page of it if opts.Limit is set.
func (r *Resource[T]) List(ctx context.Context, opts api.ListOptions) (*api.List[T], error) {
	req, err := r.request("list", http.MethodGet, "", "")
	if err != nil {
		return nil, err
	}
	req.Query = opts.Query()
	req.Accept = r.accept(partialListMediaType)
	list, err := r.many(ctx, req)
	if err == nil && list == nil {
		err = &DecodeError{Verb: req.method(), URL: req.Path, Err: errNotAList}
	}
	return list, err
}

var errNotAList = errors.New("a Status where a list should be")

// one sends a request that is answered with an object.
func (r *Resource[T]) one(ctx context.Context, req Request) (T, error) {
	var object T
	x := &exchange{client: r.client, req: req}
	x.consume = func(answer *http.Response) error {
		data, err := io.ReadAll(bounded(answer.Body, r.client.cfg.MaxBodyBytes, "the body"))
		if err == nil {
			object, err = r.decoder.Object(data)
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
		bounded := bounded(answer.Body, r.client.cfg.MaxListBytes, "the list")
		list, err = r.decoder.List(bounded, r.client.cfg.MaxFrameBytes)
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

// UpdateSubresource replaces a subresource of the object name: "status", "finalize", "scale".
func (r *Resource[T]) UpdateSubresource(ctx context.Context, name, subresource string, object T,
	opts api.UpdateOptions) (T, error) {
	req, err := r.objectRequest("update", http.MethodPut, r.namespaceOf(object), name, subresource)
	return r.write(ctx, req, err, object, opts)
}

// Patch applies a patch to an object or to one of its subresources.
func (r *Resource[T]) Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions,
	subresources ...string) (T, error) {
	req, err := r.objectRequest("patch", http.MethodPatch, "", name, subresources...)
	if err != nil {
		var none T
		return none, err
	}
	req.Query = opts.Query()
	req.Body, req.ContentType = patch, string(kind)
	return r.one(ctx, req)
}

// Delete deletes one object, which still exists if it has finalizers or a grace period.
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
// that an empty one proves that there was nothing. A bare Status leaves listed false and found nil.
func (r *Resource[T]) DeleteCollection(ctx context.Context, opts api.DeleteOptions,
	listOpts api.ListOptions) (found *api.List[T], listed bool, err error) {
	req, err := r.request("deletecollection", http.MethodDelete, "", "")
	if err != nil {
		return nil, false, err
	}
	if req.Body, err = json.Marshal(opts); err != nil {
		return nil, false, err
	}
	req.Query = listOpts.Query()
	req.Accept = r.accept(partialListMediaType)
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
