package registry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Update replaces an object, or the part of it that the subresource names, and takes ownership of
// o. It creates no object.
//
// An object with a resourceVersion replaces only that version (409). Without one it replaces any
// version, if the type allows it (422). If o removes the last finalizer of an object that is being
// deleted, the object is removed. The answer is then o, which was never stored.
func (r *Registry) Update(ctx context.Context, t Target, o *api.Unstructured, w WriteOptions) (*store.Object, error) {
	if err := t.sameNamespace(o); err != nil {
		return nil, err
	}
	if err := t.sameName(o); err != nil {
		return nil, err
	}
	if r.injectConflict("update", t, w, o) {
		return nil, t.conflict(resources.ObjectModified)
	}
	return r.change(ctx, "update", t, math.MaxInt, w, func(old *store.Object) (*api.Unstructured, error) {
		if uid := o.GetUID(); uid != "" && uid != old.UID {
			return nil, t.otherUID(uid, old.UID)
		}
		return t.replacement(o, old)
	})
}

// change stores what compute makes of an object. If another writer was faster it starts again, up
// to the number of attempts.
func (r *Registry) change(ctx context.Context, verb string, t Target, attempts int, w WriteOptions,
	compute func(old *store.Object) (*api.Unstructured, error),
) (*store.Object, error) {
	for range attempts {
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return nil, t.notFound()
		}
		next, err := compute(old)
		if err != nil {
			return nil, err
		}
		if err := r.namespaceExists(t); err != nil {
			return nil, err
		}
		if after, err := r.revise(ctx, verb, t, old, next, w); err != errOvertaken {
			return after, err
		}
	}
	return nil, t.conflict(resources.ObjectModified)
}

// otherUID returns the conflict of a write meant for an earlier object of the same name.
func (t Target) otherUID(asked, found string) error {
	return t.conflict(fmt.Sprintf("StorageError: invalid object, Code: 4, Key: %s/%s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s",
		t.Definition.Prefix, t.key(), asked, found))
}

// checkVersion implements optimistic concurrency: a writer that names a version replaces only that
// version.
func (t Target) checkVersion(asked, current uint64) error {
	switch {
	case asked == current:
		return nil
	case asked != 0:
		return t.conflict(resources.ObjectModified)
	case t.Definition.Strategy.AllowUnconditionalUpdate:
		return nil
	}
	return resources.Invalid(t.Definition.Group, t.Definition.Plural, t.Name, resources.Wrong(resources.FieldInvalid,
		"metadata.resourceVersion", 0, "must be specified for an update"))
}

// replacement returns a copy of o in storage form, if o may replace old. It copies because the
// caller may retry.
func (t Target) replacement(o *api.Unstructured, old *store.Object) (*api.Unstructured, error) {
	asked, err := parseVersion(o.GetResourceVersion())
	if err != nil {
		return nil, err
	}
	if err := t.checkVersion(asked, old.Version); err != nil {
		return nil, err
	}
	if t.Subresource == "scale" {
		if replicas := o.NestedInt64("spec", "replicas"); replicas < 0 {
			return nil, resources.Invalid("autoscaling", "Scale", t.Name, resources.Wrong(resources.FieldInvalid,
				"spec.replicas", replicas, "must be greater than or equal to 0"))
		}
		next := old.Decode()
		return next, t.Definition.SetScale(next, o)
	}
	next := o.DeepCopy()
	toStorage(t.Definition, next)
	return next, nil
}

// errOvertaken reports that another writer changed the object first: the write must be computed
// again.
var errOvertaken = errors.New("registry: another writer was faster")

// revise stores a new state: it keeps the server's fields, prepares and validates the change, and
// calls admission.
func (r *Registry) revise(ctx context.Context, verb string, t Target, old *store.Object, next *api.Unstructured,
	w WriteOptions,
) (*store.Object, error) {
	current := old.Decode()
	prepareUpdate(t, next, current, w)
	if err := t.invalid(checkUpdate(t, next, current)); err != nil {
		return nil, err
	}
	w.warn(resources.Warnings(t.Definition, next, current))
	if err := r.admitted(ctx, verb, t, w, next); err != nil {
		return nil, err
	}
	if r.deletionComplete(t.Definition, next, current) {
		_, err := r.remove(ctx, t, old, w) // the old state is removed, and the new one answered
		return store.Preview(store.Draft{Object: next, Fields: t.Definition.FieldsOf(next)}, old.Version), err
	}
	after, err := r.replace(t, old, next, w)
	if err == nil && !w.DryRun {
		r.written(t, after)
	}
	return after, err
}

func prepareUpdate(t Target, next, current *api.Unstructured, w WriteOptions) {
	metadata, old := metadataOf(next), metadataOf(current)
	delete(metadata, "selfLink")
	for _, field := range []string{"creationTimestamp", "generation", "name", "namespace"} {
		carry(metadata, old, field)
	}
	for _, field := range []string{"uid", "deletionGracePeriodSeconds"} {
		if value := metadata[field]; value == nil || value == "" {
			carry(metadata, old, field)
		}
	}
	if old["deletionTimestamp"] != nil {
		carry(metadata, old, "deletionTimestamp") // a deletion cannot be undone
	}
	strategy := t.Definition.Strategy
	if strategy.Default != nil {
		strategy.Default(next)
	}
	prepare := strategy.PrepareUpdate
	switch t.Subresource {
	case "status":
		prepare = strategy.PrepareStatus
	case "finalize":
		prepare = strategy.PrepareFinalize
	}
	if prepare != nil {
		prepare(next, current)
	}
	w.setManagers(t, next, current)
}

func checkUpdate(t Target, next, current *api.Unstructured) []resources.FieldError {
	errs := resources.MetaUpdateValidation(t.Definition, next, current)
	check := t.Definition.Strategy.ValidateUpdate
	switch t.Subresource {
	case "status":
		check = t.Definition.Strategy.ValidateStatusUpdate
	case "finalize":
		check = t.Definition.Strategy.ValidateFinalizeUpdate
	}
	if check != nil {
		errs = append(errs, check(next, current)...)
	}
	return errs
}

// deletionComplete reports whether the update removes the last thing that holds a terminating
// object.
func (r *Registry) deletionComplete(d *resources.Definition, next, current *api.Unstructured) bool {
	if d == r.namespaces {
		return namespaceComplete(next)
	}
	grace, _ := current.Nested("metadata", "deletionGracePeriodSeconds").(int64) // absent on a CustomResourceDefinition
	return current.GetDeletionTimestamp() != nil && grace == 0 && len(next.GetFinalizers()) == 0
}

// replace stores next in place of old. A dry run returns what would be stored.
func (r *Registry) replace(t Target, old *store.Object, next *api.Unstructured, w WriteOptions) (*store.Object, error) {
	draft := store.Draft{Object: next, Fields: t.Definition.FieldsOf(next)}
	if w.DryRun {
		return store.Preview(draft, old.Version), nil
	}
	after, swapped, err := r.collection(t).Replace(old, draft)
	if err == nil && !swapped {
		return nil, errOvertaken
	}
	return after, r.storeError(t, err)
}

// amend applies a change of the server itself, without validation, and retries on conflict. change
// returns false if there is nothing to do.
func (r *Registry) amend(t Target, change func(o *api.Unstructured) bool) {
	for {
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return
		}
		next := old.Decode()
		if !change(next) {
			return
		}
		if _, err := r.replace(t, old, next, WriteOptions{internal: true}); err != errOvertaken {
			return
		}
	}
}

// setFinalizers replaces metadata.finalizers; an empty list removes the field.
func setFinalizers(o *api.Unstructured, finalizers []string) {
	metadata := metadataOf(o)
	if len(finalizers) == 0 {
		delete(metadata, "finalizers")
		return
	}
	list := make([]any, len(finalizers))
	for i, finalizer := range finalizers {
		list[i] = finalizer
	}
	metadata["finalizers"] = list
}

// without returns a copy of list without the given values.
func without(list []string, values ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(values, one) })
}

// patchAttempts is how often a patch is retried after a conflict.
const patchAttempts = 5

// Patch changes an object. change gets the object in the target's version, may change it in place,
// and returns the new state. For the subresource scale it gets and returns a Scale.
//
// A patch without a resourceVersion is retried on the latest state if another writer was faster.
// With a resourceVersion it fails with a conflict.
func (r *Registry) Patch(ctx context.Context, t Target,
	change func(current *api.Unstructured) (*api.Unstructured, error), w WriteOptions) (*store.Object, error) {
	return r.change(ctx, "patch", t, patchAttempts, w, func(old *store.Object) (*api.Unstructured, error) {
		next, err := t.patched(old, change)
		if err == nil && r.injectConflict("patch", t, w, next) {
			err = t.conflict(resources.ObjectModified)
		}
		return next, err
	})
}

// patched applies change and returns the new state in storage form.
func (t Target) patched(
	old *store.Object, change func(*api.Unstructured) (*api.Unstructured, error),
) (*api.Unstructured, error) {
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
	return t.replacement(changed, old)
}

// show returns an object in the target's version.
func (t Target) show(o *store.Object) *api.Unstructured {
	tree := o.Decode()
	if t.Definition.FromStorage != nil {
		t.Definition.FromStorage(tree)
	}
	tree.Object["kind"] = t.Definition.Kind
	tree.Object["apiVersion"] = t.Definition.GroupVersion().String()
	metadataOf(tree)["resourceVersion"] = strconv.FormatUint(o.Version, 10)
	return tree
}
