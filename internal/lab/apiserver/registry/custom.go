package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/meta"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// FinalizerCustomResources holds a terminating CustomResourceDefinition until all of its objects
// are gone.
const FinalizerCustomResources = "customresourcecleanup.apiextensions.k8s.io"

func (r *Registry) customTarget(name string) Target {
	return Target{Definition: r.customResources, Version: r.customResources.Version, Name: name}
}

// customPlace checks that a custom resource is not being removed.
func (r *Registry) customPlace(t Target, get func(prefix string, key store.Key) (*store.Object, bool)) error {
	d := t.Definition
	crd, ok := get(r.customResources.Prefix, store.Key{Name: d.Qualified()})
	switch {
	case !ok:
		return meta.ResourceNotFound()
	case crd.Deleting:
		return meta.Forbidden(d.Group, d.Plural, t.Name,
			"create not allowed while custom resource definition is terminating")
	}
	return nil
}

// syncCustom updates the catalog from a CustomResourceDefinition and sets its conditions
// NamesAccepted and Established. If the definition is gone it drops the collection, which ends the
// watches of it.
func (r *Registry) syncCustom(name string) {
	_, group, _ := strings.Cut(name, ".")
	defer r.registerGroup(group)
	r.syncing.Lock()
	defer r.syncing.Unlock()
	t := r.customTarget(name)
	current, ok := r.collection(t).Get(t.key())
	if !ok {
		r.catalog.RemoveCustom(name)
		r.store.Drop(resources.CustomPrefix(name))
		r.acceptOthers(name)
		return
	}
	r.accept(t, current.Decode())
	r.acceptOthers(name)
}

// accept serves a custom resource unless its names are taken.
func (r *Registry) accept(t Target, crd *api.Unstructured) {
	reason, message := r.namesConflict(crd)
	if reason == "" {
		if err := r.catalog.PutCustom(crd); err != nil {
			reason, message = "NotServed", err.Error() // validation refuses definitions that cannot be served
		}
	}
	r.amend(t, func(o *api.Unstructured) bool { return setNames(o, reason, message) })
}

// acceptOthers retries the definitions of the same group whose names were taken.
func (r *Registry) acceptOthers(name string) {
	_, group, _ := strings.Cut(name, ".")
	view, err := r.store.Collection(r.customResources.Prefix).View(0)
	if err != nil {
		return
	}
	view.Ascend("", store.Key{}, func(o *store.Object) bool {
		if _, other, _ := strings.Cut(o.Key.Name, "."); other == group && o.Key.Name != name {
			if crd := o.Decode(); refusedNames(crd) {
				r.accept(r.customTarget(o.Key.Name), crd)
			}
		}
		return true
	})
}

// refusedNames reports whether the names of a definition were taken at the last check.
func refusedNames(crd *api.Unstructured) bool {
	conditions, _ := crd.Nested("status", "conditions").([]any)
	return slices.ContainsFunc(conditions, func(one any) bool {
		condition, _ := one.(map[string]any)
		return condition["type"] == "NamesAccepted" && condition["status"] == string(api.ConditionFalse)
	})
}

// namesConflict looks for another resource of the group with one of the same names. kubectl and
// owner references find resources by these names.
func (r *Registry) namesConflict(crd *api.Unstructured) (reason, message string) {
	group, name := crd.NestedString("spec", "group"), crd.GetName()
	for _, d := range r.catalog.All() {
		if d.Group != group || d.Qualified() == name {
			continue
		}
		taken := append([]string{d.Plural, d.Singular}, d.ShortNames...)
		for _, one := range []struct {
			reason string
			taken  []string
			names  []string
		}{
			{"SingularConflict", taken, []string{crd.NestedString("spec", "names", "singular")}},
			{"ShortNamesConflict", taken, crd.NestedStringSlice("spec", "names", "shortNames")},
			{"KindConflict", []string{d.Kind, d.ListKind}, []string{crd.NestedString("spec", "names", "kind")}},
			{"ListKindConflict", []string{d.Kind, d.ListKind}, []string{crd.NestedString("spec", "names", "listKind")}},
		} {
			for _, wanted := range one.names {
				if wanted != "" && slices.Contains(one.taken, wanted) {
					reason, message = one.reason, fmt.Sprintf("%q is already in use", wanted)
				}
			}
		}
	}
	return reason, message
}

func setNames(crd *api.Unstructured, reason, message string) bool {
	if reason != "" {
		changed := SetCondition(crd, "NamesAccepted", api.ConditionFalse, reason, message)
		return SetCondition(crd, "Established", api.ConditionFalse, "NotAccepted", "not all names are accepted") || changed
	}
	changed := SetCondition(crd, "NamesAccepted", api.ConditionTrue, "NoConflicts", "no conflicts found")
	changed = SetCondition(crd, "Established", api.ConditionTrue, "InitialNamesAccepted", "the initial names have been accepted") || changed
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
func (r *Registry) deleteCustom(ctx context.Context, t Target, old *store.Object, o api.DeleteOptions, w WriteOptions) (after *store.Object, marked, swapped bool, err error) {
	if err := r.checkMetaPreconditions(t, old, o.Preconditions); err != nil || old.Deleting {
		return nil, false, true, err
	}
	next := old.Decode()
	if err := r.admitted(ctx, "delete", t, w, nil, next); err != nil {
		return nil, false, true, err
	}
	metadataOf(next)["deletionTimestamp"] = timestamp(time.Now())
	setFinalizers(next, append(without(next.GetFinalizers(), FinalizerCustomResources), FinalizerCustomResources))
	SetCondition(next, "Terminating", api.ConditionTrue, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	after, swapped, err = r.replace(t, old, next, w)
	if err == nil && swapped && !w.DryRun {
		r.emptyCustom(ctx, t)
	}
	return after, true, swapped, err
}

// emptyCustom deletes all objects of a resource that is being removed.
func (r *Registry) emptyCustom(ctx context.Context, t Target) {
	r.amend(t, func(o *api.Unstructured) bool {
		return SetCondition(o, "Terminating", api.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
	})
	crd, ok := r.collection(t).Get(t.key())
	if !ok {
		return
	}
	if d, err := resources.StoredAs(crd.Decode()); err == nil { // without a storage version there are no objects
		all := Target{Definition: d, Version: d.Version}
		// This cannot be refused: it skips admission and has no preconditions. If ctx ends, another
		// DELETE of the objects or the definition continues it.
		_, _ = r.DeleteCollection(context.WithoutCancel(ctx), all, api.DeleteOptions{}, api.ListOptions{}, WriteOptions{internal: true})
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
		var swapped bool
		if len(finalizers) == 0 {
			_, _, swapped, _ = r.remove(ctx, t, old, WriteOptions{internal: true})
		} else {
			_, swapped, _ = r.replace(t, old, next, WriteOptions{internal: true})
		}
		if swapped {
			return
		}
	}
}
