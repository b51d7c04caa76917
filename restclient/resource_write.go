package restclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"orrery/restclient/api"
)

// Create stores a new object and returns it as the server completed it. In a resource of all namespaces the object's own
// namespace counts.
func (r *Resource[T]) Create(ctx context.Context, object T, opts api.UpdateOptions) (T, error) {
	req, err := r.request(verbCreate, http.MethodPost, r.namespaceOf(object), "")
	return r.write(ctx, req, err, object, opts)
}

// Update replaces an object. If the object carries a resource version and the server has a newer one the answer is a
// conflict (api.IsConflict).
func (r *Resource[T]) Update(ctx context.Context, object T, opts api.UpdateOptions) (T, error) {
	req, err := r.objectRequest(verbUpdate, http.MethodPut, r.namespaceOf(object), object.GetName())
	return r.write(ctx, req, err, object, opts)
}

// UpdateStatus replaces the status of an object and nothing else.
func (r *Resource[T]) UpdateStatus(ctx context.Context, object T, opts api.UpdateOptions) (T, error) {
	return r.UpdateSubresource(ctx, object.GetName(), "status", object, opts)
}

// UpdateSubresource puts an object to one of the subresources of name: "status", "finalize", "scale".
func (r *Resource[T]) UpdateSubresource(ctx context.Context, name, subresource string, object T, opts api.UpdateOptions) (T, error) {
	req, err := r.objectRequest(verbUpdate, http.MethodPut, r.namespaceOf(object), name, subresource)
	return r.write(ctx, req, err, object, opts)
}

// Patch changes an object, or one of its subresources, as the patch says.
func (r *Resource[T]) Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions, subresources ...string) (T, error) {
	req, err := r.objectRequest(verbPatch, http.MethodPatch, "", name, subresources...)
	if err != nil {
		var none T
		return none, err
	}
	req.Query = opts.Query()
	req.Body, req.ContentType = patch, string(kind)
	return r.one(ctx, req)
}

// Delete deletes one object. Nil means that the server has accepted it; an object with finalizers or with a grace
// period is still there then.
func (r *Resource[T]) Delete(ctx context.Context, name string, opts api.DeleteOptions) error {
	req, err := r.objectRequest(verbDelete, http.MethodDelete, "", name)
	if err != nil {
		return err
	}
	if req.Body, err = json.Marshal(opts); err != nil {
		return err
	}
	req.Accept = jsonMediaType
	return r.client.Do(ctx, req, nil)
}

// DeleteCollection deletes all objects that listOpts select, and returns what the server found there: kube-apiserver
// answers with the list that it read (consistently) before it deleted, so that an empty one proves that there was
// nothing. It does not say that what was found is gone, see Delete. A server that answers with a bare Status leaves
// listed false and found nil.
func (r *Resource[T]) DeleteCollection(ctx context.Context, opts api.DeleteOptions, listOpts api.ListOptions) (found *api.List[T], listed bool, err error) {
	req, err := r.request(verbDeleteCollection, http.MethodDelete, "", "")
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

// write sends an object; err is what building the request ended with.
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

// namespaceOf is the object's own namespace where the resource leaves it open, else the resource's.
func (r *Resource[T]) namespaceOf(object T) string {
	if r.namespace != "" {
		return r.namespace
	}
	return object.GetNamespace()
}
