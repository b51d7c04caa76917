package registry

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Delete deletes an object, or begins to: gone=false says that it is only marked, and that finalizers, a grace period or
// a namespace's content hold it. The object is its last state, or the one that it is in now. The preconditions must hold
// (409).
func (r *Registry) Delete(ctx context.Context, t Target, o api.DeleteOptions, w WriteOptions) (*store.Object, bool, error) {
	w.DryRun = w.DryRun || o.DryRun
	if err := checkDeleteOptions(o); err != nil {
		return nil, false, err
	}
	if t.Definition == r.namespaces && immortal[t.Name] && !w.internal {
		return nil, false, apierrors.Forbidden("", "namespaces", t.Name, "this namespace may not be deleted")
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return nil, false, t.notFound()
		}
		gone := false
		after, marked, swapped, err := r.begin(ctx, t, old, o, w)
		if err == nil && !marked {
			after, gone, swapped, err = r.deleteStep(ctx, t, old, o, w)
		}
		switch {
		case err != nil:
			return nil, false, err
		case swapped:
			return after, gone, nil
		}
	}
}

// begin is the first DELETE of the types for which it is something else than any other. marked=false: it is not, go on.
func (r *Registry) begin(ctx context.Context, t Target, old *store.Object, o api.DeleteOptions, w WriteOptions) (after *store.Object, marked, swapped bool, err error) {
	switch t.Definition {
	case r.namespaces:
		return r.deleteNamespace(t, old, o, w)
	case r.customResources:
		return r.deleteCustom(ctx, t, old, o, w)
	}
	return nil, false, true, nil
}

// deleteStep is the DELETE of any object.
func (r *Registry) deleteStep(ctx context.Context, t Target, old *store.Object, o api.DeleteOptions, w WriteOptions) (after *store.Object, gone, swapped bool, err error) {
	if t.Definition != r.namespaces && t.Definition != r.customResources {
		if err := t.holds(old, o.Preconditions); err != nil {
			return nil, false, false, err
		}
	}
	current := old.Decode()
	if err := r.admitted("delete", t, w, current); err != nil {
		return nil, false, false, err
	}
	plan := planDeletion(t.Definition, current, o, time.Now())
	if !plan.changed {
		if plan.remove {
			return r.remove(ctx, t, old, w)
		}
		return old, false, true, nil
	}
	after, swapped, err = r.replace(t, old, current, w)
	if err != nil || !swapped {
		return nil, false, false, err
	}
	if !plan.remove {
		return after, false, true, nil
	}
	if w.DryRun {
		return after, true, true, nil
	}
	return r.removeMarked(ctx, t, after, w)
}

// remove takes an object out of the store.
func (r *Registry) remove(ctx context.Context, t Target, old *store.Object, w WriteOptions) (*store.Object, bool, bool, error) {
	if w.DryRun {
		return old, true, true, nil
	}
	last, swapped := r.collection(t).Delete(old)
	if !swapped {
		return nil, false, false, nil
	}
	r.removed(ctx, t, last)
	return last, true, true, nil
}

// removeMarked removes an object that has just been marked with no time left, whatever else was written to it since.
func (r *Registry) removeMarked(ctx context.Context, t Target, marked *store.Object, w WriteOptions) (*store.Object, bool, bool, error) {
	for {
		last, done, swapped, err := r.remove(ctx, t, marked, w)
		if swapped || err != nil {
			return last, done, swapped, err
		}
		current, ok := r.collection(t).Get(t.key())
		if !ok || current.UID != marked.UID {
			return marked, true, true, nil // somebody else has removed it
		}
		if len(current.Decode().GetFinalizers()) > 0 {
			return current, false, true, nil
		}
		marked = current
	}
}

// holds checks the preconditions of a delete: it is to hit the object that the client has seen.
func (t Target) holds(old *store.Object, p *api.Preconditions) error {
	if p == nil {
		return nil
	}
	conflict := func(reason string) error { // named by its kind here, in the real one as well
		return apierrors.Conflict(t.Definition.Group, t.Definition.Kind, t.Name, reason)
	}
	if p.UID != nil && *p.UID != old.UID {
		return conflict(fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *p.UID, old.UID))
	}
	if version := fmt.Sprint(old.Version); p.ResourceVersion != nil && *p.ResourceVersion != version {
		return conflict(fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *p.ResourceVersion, version))
	}
	return nil
}

// holdsMeta is the same in the words that namespaces and custom resource definitions have for it.
func (r *Registry) holdsMeta(t Target, old *store.Object, p *api.Preconditions) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != old.UID {
		return t.conflict(fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", *p.UID, old.UID))
	}
	if version := fmt.Sprint(old.Version); p.ResourceVersion != nil && *p.ResourceVersion != version {
		return t.conflict(fmt.Sprintf("Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s",
			*p.ResourceVersion, version))
	}
	return nil
}

func checkDeleteOptions(o api.DeleteOptions) error {
	switch o.PropagationPolicy {
	case "", api.DeletePropagationBackground, api.DeletePropagationForeground, api.DeletePropagationOrphan:
		return nil
	}
	return apierrors.Invalid("meta.k8s.io", "DeleteOptions", "", []apierrors.FieldError{{
		Type: apierrors.FieldNotSupported, Field: "propagationPolicy", Value: string(o.PropagationPolicy),
		Detail: `supported values: "Foreground", "Background", "Orphan", "nil"`,
	}})
}

// deletion is what a DELETE does to an object.
type deletion struct {
	changed bool // the tree was changed and has to be stored
	remove  bool // then the object goes
}

// planDeletion marks o as being deleted, as far as it is to be.
func planDeletion(d *resources.Definition, o *api.Unstructured, options api.DeleteOptions, now time.Time) deletion {
	graceful, pending, marked := markGraceful(d, o, options.GracePeriodSeconds, now)
	if pending {
		return deletion{}
	}
	changed := setCollectorFinalizers(o, propagation(d, o, options.PropagationPolicy)) || marked
	held := len(o.GetFinalizers()) > 0
	grace, _ := wholeNumber(o.Nested("metadata", "deletionGracePeriodSeconds"))
	switch {
	case graceful:
		return deletion{changed: changed, remove: !held && grace == 0}
	case held:
		return deletion{changed: markAtOnce(o, now) || changed}
	}
	return deletion{remove: true}
}

// DeleteCollection deletes what a list with the same options shows, one object after the other, and returns that list.
// Objects that have gone in between are no error; the first other error ends it.
func (r *Registry) DeleteCollection(ctx context.Context, t Target, d api.DeleteOptions, l api.ListOptions, w WriteOptions) (*Page, error) {
	if err := r.CheckList(t, l); err != nil {
		return nil, err
	}
	if err := checkDeleteOptions(d); err != nil {
		return nil, err
	}
	page, err := r.List(t, l)
	if err != nil {
		return nil, err
	}
	for _, item := range page.Items {
		_, _, err := r.Delete(ctx, t.of(item), d, w)
		if err != nil && !api.IsNotFound(err) {
			return nil, err
		}
	}
	return page, nil
}
