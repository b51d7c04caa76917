package registry

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// This file is the server's half of what the two articles describe. The other half, the controller that empties a
// namespace, is package nsctl.
//
// The design document ("Namespaces", sections Finalizers and Phases) says: "A Namespace must exist prior to associating
// content with it" ([Registry.mayCreate]); "The API Server enforces that a Namespace can only be deleted from storage if
// and only if it's Namespace.Spec.Finalizers is empty" ([namespaceMayGo]); "If a DELETE request occurs for a Namespace, the
// Namespace.ObjectMeta.DeletionTimestamp is set to the current server time" ([Registry.deleteNamespace]); "A finalize
// operation is the only mechanism to modify the Namespace.Spec.Finalizers field post creation" (the strategy of namespaces in
// package resources); "Admission control blocks creation of new resources in that namespace" ([Registry.guard]).
//
// The second article ("k8s 中删除 namespace 时发生了什么", section 二) tells the order of a DELETE: deletionTimestamp is empty:
// stamp it, set the phase; it is not empty: look at spec.finalizers, and remove the namespace only if there are none.

// systemNamespaces exist from the start, as in every cluster.
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// immortal are the namespaces that cannot be deleted. kube-node-lease can, in the real one as well.
var immortal = map[string]bool{"default": true, "kube-public": true, "kube-system": true}

func (r *Registry) makeSystemNamespaces() {
	t := Target{Definition: r.namespaces, Version: "v1"}
	for _, name := range systemNamespaces {
		o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
		if _, err := r.Create(context.Background(), t, o, WriteOptions{internal: true}); err != nil && !api.IsAlreadyExists(err) {
			panic(fmt.Sprintf("registry: namespace %s: %v", name, err))
		}
	}
}

// mayCreate tells whether the place of a new object is open: its namespace exists and is not being deleted. This is
// asked first of all, as admission does, so that an object that is wrong as well hears this.
func (r *Registry) mayCreate(t Target) error {
	return r.place(t, func(prefix string, key store.Key) (*store.Object, bool) { return r.store.Collection(prefix).Get(key) })
}

// guard asks the same again in the instant of the write: whatever the controller has found empty after the namespace was
// marked stays empty. In kube-apiserver a cache may be a moment behind, and the controller looks twice for it.
func (r *Registry) guard(t Target) store.Guard {
	return func(reader store.Reader) error { return r.place(t, reader.Get) }
}

func (r *Registry) place(t Target, get func(prefix string, key store.Key) (*store.Object, bool)) error {
	if t.Definition.Custom {
		if err := r.customPlace(t, get); err != nil {
			return err
		}
	}
	if !t.Definition.Namespaced {
		return nil
	}
	namespace, ok := get(r.namespaces.Prefix, store.Key{Name: t.Namespace})
	switch {
	case !ok:
		return apierrors.NotFound("", "namespaces", t.Namespace)
	case namespace.Deleting:
		return apierrors.NamespaceTerminating(t.Definition.Group, t.Definition.Plural, t.Name, t.Namespace)
	}
	return nil
}

// namespaceExists is what is asked of a write to an object that exists.
func (r *Registry) namespaceExists(t Target) error {
	if !t.Definition.Namespaced {
		return nil
	}
	if _, ok := r.store.Collection(r.namespaces.Prefix).Get(store.Key{Name: t.Namespace}); !ok {
		return apierrors.NotFound("", "namespaces", t.Namespace)
	}
	return nil
}

// deleteNamespace is the first half of a DELETE of a namespace: the one that marks it. It returns marked=false if that has
// been done and the namespace has no finalizers of its own any more: then it is deleted like any other object, which is
// the "final DELETE action" of the design document.
func (r *Registry) deleteNamespace(t Target, old *store.Object, o api.DeleteOptions, w WriteOptions) (after *store.Object, marked, swapped bool, err error) {
	if err := r.holdsMeta(t, old, o.Preconditions); err != nil {
		return nil, true, true, err
	}
	current := old.Decode()
	if old.Deleting {
		if len(current.NestedStringSlice("spec", "finalizers")) > 0 {
			return old, true, true, nil
		}
		return nil, false, true, nil
	}
	if err := r.admitted("delete", t, w, current); err != nil {
		return nil, true, true, err
	}
	metadata := metadataOf(current)
	metadata["deletionTimestamp"] = timestamp(time.Now())
	_ = current.SetNested(string(api.NamespaceTerminating), "status", "phase") // status is a map, or nothing
	setCollectorFinalizers(current, o.PropagationPolicy)
	after, swapped, err = r.replace(t, old, current, w)
	return after, true, swapped, err
}

// namespaceMayGo tells whether nothing holds a namespace any more that is being deleted: both lists of finalizers are empty.
func namespaceMayGo(o *api.Unstructured) bool {
	return o.Nested("metadata", "deletionTimestamp") != nil &&
		len(o.GetFinalizers()) == 0 && len(o.NestedStringSlice("spec", "finalizers")) == 0
}
