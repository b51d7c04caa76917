package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// Delete removes an object or marks it as terminating. gone is false if finalizers, a grace period
// or the content of a namespace hold it. The returned object is the last state, or the current one
// if the object remains.
func (r *Registry) Delete(ctx context.Context, t Target, o api.DeleteOptions,
	w WriteOptions) (*store.Object, bool, error) {
	w.DryRun = w.DryRun || o.DryRun
	if t.Definition == r.namespaces && undeletable[t.Name] && !w.internal {
		return nil, false, resources.Forbidden("", "namespaces", t.Name, "this namespace may not be deleted")
	}
	for {
		old, ok := r.collection(t).Get(t.key())
		if !ok {
			return nil, false, t.notFound()
		}
		if err := t.checkPreconditions(old, o.Preconditions); err != nil {
			return nil, false, err
		}
		after, marked, err := r.begin(ctx, t, old, o, w)
		gone := false
		if err == nil && !marked {
			after, gone, err = r.deleteStep(ctx, t, old, o, w)
		}
		if err != errOvertaken {
			return after, gone, err
		}
	}
}

// begin handles the first DELETE of namespaces and CustomResourceDefinitions. If marked is false,
// deletion goes on as for any other object.
func (r *Registry) begin(ctx context.Context, t Target, old *store.Object, o api.DeleteOptions,
	w WriteOptions,
) (after *store.Object, marked bool, err error) {
	switch t.Definition {
	case r.namespaces:
		return r.deleteNamespace(ctx, t, old, o, w)
	case r.customResources:
		return r.deleteCustom(ctx, t, old, w)
	}
	return nil, false, nil
}

// deleteStep handles the DELETE of an ordinary object.
func (r *Registry) deleteStep(ctx context.Context, t Target, old *store.Object, o api.DeleteOptions,
	w WriteOptions,
) (after *store.Object, gone bool, err error) {
	current := old.Decode()
	if err := r.admitted(ctx, "delete", t, w, current); err != nil {
		return nil, false, err
	}
	plan := planDeletion(t.Definition, current, o, time.Now())
	if plan.changed {
		after, err = r.replace(t, old, current, w)
		if err != nil || !plan.remove {
			return after, false, err
		}
		if last, err := r.remove(ctx, t, after, w); err == nil {
			after = last
		} // else a write of another client has removed it: see deletionComplete
		return after, true, nil
	}
	if !plan.remove {
		return old, false, nil
	}
	last, err := r.remove(ctx, t, old, w)
	return last, err == nil, err
}

func (r *Registry) remove(ctx context.Context, t Target, old *store.Object, w WriteOptions) (*store.Object, error) {
	if w.DryRun {
		return old, nil
	}
	last, swapped := r.collection(t).Delete(old)
	if !swapped {
		return nil, errOvertaken
	}
	r.removed(ctx, t, last)
	return last, nil
}

// checkPreconditions checks the preconditions of a DELETE.
func (t Target) checkPreconditions(old *store.Object, p *api.Preconditions) error {
	if p == nil {
		return nil
	}
	conflict := func(reason string) error { // kube-apiserver names the kind here, not the resource
		return resources.Conflict(t.Definition.Group, t.Definition.Kind, t.Name, reason)
	}
	if p.UID != nil && *p.UID != old.UID {
		return conflict(fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *p.UID, old.UID))
	}
	if version := fmt.Sprint(old.Version); p.ResourceVersion != nil && *p.ResourceVersion != version {
		return conflict(fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the "+
			"ResourceVersion in record (%s). The object might have been modified", *p.ResourceVersion, version))
	}
	return nil
}

// deletion is the effect of a DELETE on an object.
type deletion struct {
	changed bool // the tree was changed and must be stored
	remove  bool // remove the object, after storing it if changed
}

// planDeletion marks o as terminating if necessary and returns what to do with it.
func planDeletion(d *resources.Definition, o *api.Unstructured, options api.DeleteOptions, now time.Time) deletion {
	graceful, pending, marked := markGraceful(d, o, options.GracePeriodSeconds, now)
	if pending {
		return deletion{}
	}
	changed := setCollectorFinalizers(o, propagation(d, o, options.PropagationPolicy)) || marked
	held := len(o.GetFinalizers()) > 0
	grace, _ := o.Nested("metadata", "deletionGracePeriodSeconds").(int64)
	switch {
	case graceful:
		return deletion{changed: changed, remove: !held && grace == 0}
	case held:
		return deletion{changed: markAtOnce(o, now) || changed}
	}
	return deletion{remove: true}
}

// DeleteCollection deletes every object that List returns for the same options, and returns that
// list. It ignores objects that are already gone and stops at the first other error.
func (r *Registry) DeleteCollection(ctx context.Context, t Target, d api.DeleteOptions, l api.ListOptions,
	w WriteOptions) (*Page, error) {
	page, err := r.List(t, l)
	if err != nil {
		return nil, err
	}
	w.collection = true
	for _, item := range page.Items {
		_, _, err := r.Delete(ctx, t.of(item), d, w)
		if err != nil && !api.IsNotFound(err) {
			return nil, err
		}
	}
	return page, nil
}

// markGraceful marks an object whose type has a grace period: deletionTimestamp is the time at
// which that period ends. A second DELETE may only shorten it. graceful reports whether the type
// has a grace period; pending reports that nothing remains to be done.
func markGraceful(d *resources.Definition, o *api.Unstructured, asked *int64,
	now time.Time) (graceful, pending, changed bool) {
	if d.Strategy.GraceSeconds == nil {
		return false, false, false
	}
	if asked != nil && *asked < 0 {
		shortest := int64(1)
		asked = &shortest
	}
	metadata := metadataOf(o)
	if ends := o.GetDeletionTimestamp(); ends != nil {
		left, _ := metadata["deletionGracePeriodSeconds"].(int64)
		if asked == nil || *asked >= left {
			return false, true, false
		}
		metadata["deletionTimestamp"] = timestamp(ends.Add(time.Duration(*asked-left) * time.Second))
		metadata["deletionGracePeriodSeconds"] = *asked
		return true, false, true
	}
	grace := d.Strategy.GraceSeconds(o, asked)
	metadata["deletionTimestamp"] = timestamp(now.Add(time.Duration(grace) * time.Second))
	metadata["deletionGracePeriodSeconds"] = grace
	nextGeneration(metadata)
	return true, false, true
}

// markAtOnce marks an object that only its finalizers hold.
func markAtOnce(o *api.Unstructured, now time.Time) bool {
	metadata := metadataOf(o)
	grace, marked := metadata["deletionGracePeriodSeconds"].(int64)
	ends := o.GetDeletionTimestamp()
	if marked && grace == 0 && ends != nil {
		return false
	}
	if !marked {
		nextGeneration(metadata)
	}
	if ends == nil || ends.After(now) {
		metadata["deletionTimestamp"] = timestamp(now)
	}
	metadata["deletionGracePeriodSeconds"] = int64(0)
	return true
}

// nextGeneration increments metadata.generation, for types that have one.
func nextGeneration(metadata map[string]any) {
	if generation, ok := metadata["generation"].(int64); ok && generation > 0 {
		metadata["generation"] = generation + 1
	}
}

// propagation returns the policy of the request, else that of the type. It returns "" if the
// object's finalizers already state a policy.
func propagation(d *resources.Definition, o *api.Unstructured, asked api.DeletePropagation) api.DeletePropagation {
	if asked != "" {
		return asked
	}
	for _, finalizer := range o.GetFinalizers() {
		if finalizer == resources.FinalizerForeground || finalizer == resources.FinalizerOrphan {
			return ""
		}
	}
	return d.Strategy.DefaultPropagation
}

// setCollectorFinalizers sets the finalizer of the policy and reports whether the list has changed.
func setCollectorFinalizers(o *api.Unstructured, policy api.DeletePropagation) bool {
	old := o.GetFinalizers()
	finalizers := without(old, resources.FinalizerForeground, resources.FinalizerOrphan)
	switch policy {
	case api.DeletePropagationForeground:
		finalizers = append(finalizers, resources.FinalizerForeground)
	case api.DeletePropagationOrphan:
		finalizers = append(finalizers, resources.FinalizerOrphan)
	case "":
		return false
	}
	if len(finalizers) == len(old) && !slices.ContainsFunc(finalizers,
		func(one string) bool { return !slices.Contains(old, one) }) {
		return false
	}
	setFinalizers(o, finalizers)
	return true
}
