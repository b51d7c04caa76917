package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Update puts a new state in the place of an object, or of the part that the subresource names. The tree belongs to the
// registry from now on. created tells that there was no object and the type lets an update create it.
//
// An object with a resourceVersion replaces that version and no other (409); without one it replaces whatever there is, if
// the type allows that (422). If the last finalizer of an object that is being deleted is gone in the new state, the object
// is removed, and the answer is the state that it never had in the store.
func (r *Registry) Update(ctx context.Context, t Target, o *api.Unstructured, w WriteOptions) (after *store.Object, created bool, err error) {
	if err := t.sameNamespace(o); err != nil {
		return nil, false, err
	}
	if err := t.sameName(o); err != nil {
		return nil, false, err
	}
	if r.struck("update", t, w, o) {
		return nil, false, t.conflict(apierrors.ObjectModified)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			after, err = r.createOnUpdate(ctx, t, o, w)
			return after, err == nil, err
		}
		if uid := o.GetUID(); uid != "" && uid != old.UID {
			return nil, false, t.otherUID(uid, old.UID, w)
		}
		if err := r.namespaceExists(t); err != nil {
			return nil, false, err
		}
		asked, err := parseVersion(o.GetResourceVersion())
		if err != nil {
			return nil, false, err
		}
		if err := t.mayReplace(asked, old.Version); err != nil {
			return nil, false, err
		}
		next, err := t.replacement(o, old)
		if err != nil {
			return nil, false, err
		}
		after, swapped, err := r.revise(ctx, "update", t, old, next, w)
		if swapped || err != nil {
			return after, false, err
		}
	}
}

// createOnUpdate is an update of an object that does not exist. That of a status creates as well, in the real server too.
func (r *Registry) createOnUpdate(ctx context.Context, t Target, o *api.Unstructured, w WriteOptions) (*store.Object, error) {
	if !t.Definition.Strategy.AllowCreateOnUpdate || t.Subresource != "" && t.Subresource != "status" {
		return nil, t.notFound()
	}
	if uid := o.GetUID(); uid != "" {
		return nil, t.otherUID(uid, "", w)
	}
	if err := r.mayCreate(t); err != nil {
		return nil, err
	}
	if _, err := parseVersion(o.GetResourceVersion()); err != nil {
		return nil, err
	}
	delete(metadataOf(o), "resourceVersion")
	return r.create(ctx, t, o, w)
}

// otherUID is what a write hears that is meant for an earlier object of the same name. The text is that of the storage
// layer, which dry runs go round.
func (t Target) otherUID(asked, found string, w WriteOptions) error {
	prefix := t.Definition.Prefix
	if w.DryRun {
		prefix = strings.TrimPrefix(prefix, "/registry")
	}
	return t.conflict(fmt.Sprintf("StorageError: invalid object, Code: 4, Key: %s/%s, ResourceVersion: 0, AdditionalErrorMsg: "+
		"Precondition failed: UID in precondition: %s, UID in object meta: %s", prefix, t.key(), asked, found))
}

// mayReplace is optimistic concurrency: a writer that says which version it has seen replaces only that.
func (t Target) mayReplace(asked, current uint64) error {
	switch {
	case asked == current:
		return nil
	case asked != 0:
		return t.conflict(apierrors.ObjectModified)
	case t.Definition.Strategy.AllowUnconditionalUpdate:
		return nil
	}
	return apierrors.Invalid(t.Definition.Group, t.Definition.Plural, t.Name, []apierrors.FieldError{{
		Type: apierrors.FieldInvalid, Field: "metadata.resourceVersion", Value: 0, Detail: "must be specified for an update",
	}})
}

// replacement returns the tree that o asks for, in the form in which objects are stored: a copy, as it may be needed again.
func (t Target) replacement(o *api.Unstructured, old *store.Object) (*api.Unstructured, error) {
	if t.Subresource == "scale" {
		next := old.Decode()
		if err := t.Definition.SetScale(next, o); err != nil {
			return nil, err
		}
		return next, nil
	}
	next := o.DeepCopy()
	toStorage(t.Definition, next)
	return next, nil
}

// revise is the way of a new state into the store: the server's fields are taken from the old one, the type prepares and
// checks the step, admission is asked. swapped=false says that somebody else was faster.
func (r *Registry) revise(ctx context.Context, verb string, t Target, old *store.Object, next *api.Unstructured, w WriteOptions) (after *store.Object, swapped bool, err error) {
	current := old.Decode()
	prepareUpdate(t, next, current)
	if err := t.invalid(checkUpdate(t, next, current)); err != nil {
		return nil, false, err
	}
	w.warn(resources.Warnings(t.Definition, next, current))
	if err := r.admitted(verb, t, w, next); err != nil {
		return nil, false, err
	}
	if r.mayGo(t.Definition, next, current) {
		return r.removeInstead(ctx, t, old, next, w)
	}
	after, swapped, err = r.replace(t, old, next, w)
	if err == nil && swapped && !w.DryRun {
		r.written(t, after)
	}
	return after, swapped, err
}

// prepareUpdate makes of what a client sent what is stored.
func prepareUpdate(t Target, next, current *api.Unstructured) {
	metadata, old := metadataOf(next), metadataOf(current)
	forget(metadata)
	for _, field := range []string{"creationTimestamp", "generation", "name", "namespace"} {
		carry(metadata, old, field)
	}
	for _, field := range []string{"uid", "deletionGracePeriodSeconds"} {
		if value := metadata[field]; value == nil || value == "" {
			carry(metadata, old, field)
		}
	}
	if old["deletionTimestamp"] != nil {
		carry(metadata, old, "deletionTimestamp") // nobody takes a deletion back
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
	default:
		if part := strategy.Parts[t.Subresource]; part != nil {
			prepare = part
		}
	}
	if prepare != nil {
		prepare(next, current)
	}
}

// checkUpdate says what is wrong with a step.
func checkUpdate(t Target, next, current *api.Unstructured) []apierrors.FieldError {
	errs := resources.MetaUpdateValidation(t.Definition, t.Subresource, next, current)
	check := t.Definition.Strategy.ValidateUpdate
	switch t.Subresource {
	case "status":
		check = t.Definition.Strategy.ValidateStatusUpdate
	case "finalize":
		check = t.Definition.Strategy.ValidateFinalizeUpdate
	default:
		if t.Definition.Strategy.Parts[t.Subresource] != nil {
			check = nil
		}
	}
	if check != nil {
		errs = append(errs, check(next, current)...)
	}
	return errs
}

// mayGo tells whether a step ends a deletion: nothing holds the object any more.
func (r *Registry) mayGo(d *resources.Definition, next, current *api.Unstructured) bool {
	if d == r.namespaces {
		return namespaceMayGo(next)
	}
	grace, _ := wholeNumber(current.Nested("metadata", "deletionGracePeriodSeconds")) // a definition is marked without it
	return current.GetDeletionTimestamp() != nil && grace == 0 && len(next.GetFinalizers()) == 0
}

// removeInstead removes an object whose new state has no finalizers left. What is removed is the old state; the answer is
// the new one.
func (r *Registry) removeInstead(ctx context.Context, t Target, old *store.Object, next *api.Unstructured, w WriteOptions) (*store.Object, bool, error) {
	after, err := store.Preview(store.Draft{Object: next, Fields: t.Definition.FieldsOf(next)}, old.Version)
	if err != nil || w.DryRun {
		return after, true, r.storeError(t, err)
	}
	last, swapped := r.collection(t).Delete(old)
	if swapped {
		r.removed(ctx, t, last)
	}
	return after, swapped, nil
}

// replace stores next in the place of old, or shows what would be stored.
func (r *Registry) replace(t Target, old *store.Object, next *api.Unstructured, w WriteOptions) (*store.Object, bool, error) {
	draft := store.Draft{Object: next, Fields: t.Definition.FieldsOf(next)}
	if w.DryRun {
		preview, err := store.Preview(draft, old.Version)
		return preview, true, r.storeError(t, err)
	}
	after, swapped, err := r.collection(t).Replace(old, draft, nil)
	return after, swapped, r.storeError(t, err)
}

// amend is how the server itself changes an object: no checks, and as often as it takes. change returns false if there is
// nothing to do.
func (r *Registry) amend(t Target, change func(o *api.Unstructured) bool) (*store.Object, bool) {
	for {
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return nil, false
		}
		next := old.Decode()
		if !change(next) {
			return old, true
		}
		after, swapped, err := r.replace(t, old, next, WriteOptions{internal: true})
		if err != nil {
			return nil, false
		}
		if swapped {
			return after, true
		}
	}
}

// setFinalizers replaces metadata.finalizers; an empty list is no list.
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

// without returns the list without a value.
func without(list []string, values ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(one string) bool { return slices.Contains(values, one) })
}
