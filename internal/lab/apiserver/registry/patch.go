package registry

import (
	"context"
	"strconv"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// patchAttempts is how often a patch is made anew on what somebody else has written in between.
const patchAttempts = 5

// Patch changes an object: change gets it in the form of the target's version, with kind and apiVersion, may change it in
// place, and returns what it shall be (of the subresource scale: the scale).
//
// A patch is a statement about some fields, so it is repeated on the latest version if somebody else was faster. A patch that
// names a resourceVersion is a statement about that version: another one is a conflict.
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
		if r.struck("patch", t, w, next) {
			return nil, t.conflict(apierrors.ObjectModified)
		}
		after, swapped, err := r.revise(ctx, "patch", t, old, next, w)
		if swapped || err != nil {
			return after, err
		}
	}
	return nil, t.conflict(apierrors.ObjectModified)
}

// patched returns the state that a patch makes of an object, as it is stored.
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
	if err := t.mayReplace(asked, old.Version); err != nil {
		return nil, err
	}
	return t.replacement(changed, old)
}

// show returns an object as a client of the target's version sees it.
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
