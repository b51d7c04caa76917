package registry

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// FinalizerCustomResources holds a terminating CustomResourceDefinition until all of its objects
// are gone.
const FinalizerCustomResources = "customresourcecleanup.apiextensions.k8s.io"

func (r *Registry) customTarget(name string) Target {
	return Target{Definition: r.customResources, Name: name}
}

// customPlace checks that a custom resource is not being removed.
func (r *Registry) customPlace(t Target, get func(prefix string, key store.Key) (*store.Object, bool)) error {
	d := t.Definition
	crd, ok := get(r.customResources.Prefix, store.Key{Name: d.Qualified()})
	switch {
	case !ok:
		return resources.ResourceNotFound()
	case crd.Deleting:
		return resources.Forbidden(d.Group, d.Plural, t.Name,
			"create not allowed while custom resource definition is terminating")
	}
	return nil
}

// syncCustom updates the catalog from a CustomResourceDefinition and sets its conditions
// NamesAccepted and Established. If the definition is gone it drops the collection, which ends the
// watches of it.
func (r *Registry) syncCustom(name string) {
	r.syncing.Lock()
	defer r.syncing.Unlock()
	t := r.customTarget(name)
	current, ok := r.collection(t).Get(t.key())
	if !ok {
		r.catalog.RemoveCustom(name)
		r.store.Drop(resources.CustomPrefix(name))
		return
	}
	if r.catalog.PutCustom(current.Decode()) == nil { // validation refuses what cannot be served
		r.amend(t, established)
	}
}

// established sets the conditions of a definition that is served, and reports whether they have
// changed. Whether another definition has the same names is not checked.
func established(crd *api.Unstructured) bool {
	changed := SetCondition(crd, "NamesAccepted", api.ConditionTrue, "NoConflicts", "no conflicts found")
	changed = SetCondition(crd, "Established", api.ConditionTrue, "InitialNamesAccepted",
		"the initial names have been accepted") || changed
	names := crd.DeepCopy().Nested("spec", "names")
	if fmt.Sprint(crd.Nested("status", "acceptedNames")) != fmt.Sprint(names) {
		changed = crd.SetNested(names, "status", "acceptedNames") == nil || changed
	}
	return changed
}

// SetCondition sets a condition and reports whether it has changed.
func SetCondition(o *api.Unstructured, kind string, status api.ConditionStatus, reason, message string) bool {
	condition := map[string]any{"type": kind, "status": string(status), "lastTransitionTime": timestamp(time.Now())}
	for field, text := range map[string]string{"reason": reason, "message": message} {
		if text != "" {
			condition[field] = text
		}
	}
	conditions, _ := o.Nested("status", "conditions").([]any)
	for i := range conditions {
		old, _ := conditions[i].(map[string]any)
		if old["type"] != kind {
			continue
		}
		if old["status"] == condition["status"] {
			if old["reason"] == condition["reason"] && old["message"] == condition["message"] {
				return false
			}
			condition["lastTransitionTime"] = old["lastTransitionTime"]
		}
		conditions[i] = condition
		return true
	}
	return o.SetNested(append(conditions, condition), "status", "conditions") == nil
}

// deleteCustom handles the first DELETE of a CustomResourceDefinition: it marks the definition and
// deletes its objects. The definition is removed with the last of them. It returns marked=false if
// the definition is already marked.
func (r *Registry) deleteCustom(ctx context.Context, t Target, old *store.Object,
	w WriteOptions,
) (after *store.Object, marked bool, err error) {
	if old.Deleting {
		return nil, false, nil
	}
	next := old.Decode()
	if err := r.admitted(ctx, "delete", t, w, next); err != nil {
		return nil, false, err
	}
	metadataOf(next)["deletionTimestamp"] = timestamp(time.Now())
	setFinalizers(next, append(without(next.GetFinalizers(), FinalizerCustomResources), FinalizerCustomResources))
	SetCondition(next, "Terminating", api.ConditionTrue, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	after, err = r.replace(t, old, next, w)
	if err == nil && !w.DryRun {
		r.emptyCustom(ctx, t)
	}
	return after, true, err
}

// emptyCustom deletes all objects of a resource that is being removed.
func (r *Registry) emptyCustom(ctx context.Context, t Target) {
	r.amend(t, func(o *api.Unstructured) bool {
		return SetCondition(o, "Terminating", api.ConditionTrue, "InstanceDeletionInProgress",
			"CustomResource deletion is in progress")
	})
	crd, ok := r.collection(t).Get(t.key())
	if !ok {
		return
	}
	if d, err := resources.StoredAs(crd.Decode()); err == nil { // without a storage version there are no objects
		all := Target{Definition: d}
		// This cannot be refused: it skips admission and has no preconditions. If ctx ends, another
		// DELETE of the objects or the definition continues it.
		_, _ = r.DeleteCollection(context.WithoutCancel(ctx), all, api.DeleteOptions{}, api.ListOptions{},
			WriteOptions{internal: true})
	}
	r.finishCustom(ctx, t.Name)
}

// finishCustom removes a terminating CustomResourceDefinition that has no objects left. It runs
// after each removal of one of its objects.
func (r *Registry) finishCustom(ctx context.Context, name string) {
	t := r.customTarget(name)
	crd, ok := r.collection(t).Get(t.key())
	if !ok || !crd.Deleting {
		return
	}
	if left, err := r.store.Collection(resources.CustomPrefix(name)).View(0); err == nil && left.Len("") > 0 {
		return
	}
	for {
		old, ok := r.collection(t).Get(t.key())
		if !ok || old.UID != crd.UID {
			return
		}
		next := old.Decode()
		SetCondition(next, "Terminating", api.ConditionFalse, "InstanceDeletionCompleted", "removed all instances")
		finalizers := without(next.GetFinalizers(), FinalizerCustomResources)
		setFinalizers(next, finalizers)
		var err error
		if len(finalizers) == 0 {
			_, err = r.remove(ctx, t, old, WriteOptions{internal: true})
		} else {
			_, err = r.replace(t, old, next, WriteOptions{internal: true})
		}
		if err != errOvertaken {
			return
		}
	}
}
