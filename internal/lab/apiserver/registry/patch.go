package registry

import (
	"context"
	"strconv"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// patchAttempts is how often a patch is retried after a conflict.
const patchAttempts = 5

// Patch changes an object. change gets the object in the target's version, may change it in place,
// and returns the new state. For the subresource scale it gets and returns a Scale.
//
// A patch without a resourceVersion is retried on the latest state if another writer was faster.
// With a resourceVersion it fails with a conflict.
func (r *Registry) Patch(ctx context.Context, t Target, change func(current *api.Unstructured) (*api.Unstructured, error), w WriteOptions) (*store.Object, error) {
	for range patchAttempts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return nil, t.notFound()
		}
		next, err := r.patched(t, old, change)
		if err != nil {
			return nil, err
		}
		if err := r.namespaceExists(t); err != nil {
			return nil, err
		}
		if r.injectConflict("patch", t, w, next) {
			return nil, t.conflict(apierrors.ObjectModified)
		}
		after, swapped, err := r.revise(ctx, "patch", t, old, next, w)
		if swapped || err != nil {
			return after, err
		}
	}
	return nil, t.conflict(apierrors.ObjectModified)
}

// patched applies change and returns the new state in storage form.
func (r *Registry) patched(t Target, old *store.Object, change func(*api.Unstructured) (*api.Unstructured, error)) (*api.Unstructured, error) {
	view := t.show(old)
	if t.Subresource == "scale" {
		view = t.Definition.ScaleOf(view)
	}
	changed, err := change(view)
	if err != nil {
		return nil, err
	}
	if err := t.sameNamespace(changed); err != nil {
		return nil, err
	}
	if err := t.sameName(changed); err != nil {
		return nil, err
	}
	asked, err := parseVersion(changed.GetResourceVersion())
	if err != nil {
		return nil, err
	}
	if err := t.checkVersion(asked, old.Version); err != nil {
		return nil, err
	}
	return t.replacement(changed, old)
}

// show returns an object in the target's version.
func (t Target) show(o *store.Object) *api.Unstructured {
	tree := o.Decode()
	if t.Definition.FromStorage != nil {
		t.Definition.FromStorage(tree)
	}
	tree.Object["kind"] = t.Definition.Kind
	tree.Object["apiVersion"] = api.GroupVersion{Group: t.Definition.Group, Version: t.Version}.String()
	metadataOf(tree)["resourceVersion"] = strconv.FormatUint(o.Version, 10)
	return tree
}
