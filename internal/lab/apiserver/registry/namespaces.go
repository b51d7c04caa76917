package registry

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// This file is the server's half of namespace deletion. The controller's half, which empties a
// namespace, is package nsctl. The design document ("Namespaces", sections Finalizers and Phases)
// says:
//
//   - "A Namespace must exist prior to associating content with it": [Registry.mayCreate].
//   - "If a DELETE request occurs for a Namespace, the Namespace.ObjectMeta.DeletionTimestamp is
//     set to the current server time": [Registry.deleteNamespace].
//   - "Admission control blocks creation of new resources in that namespace": [Registry.guard].
//   - "A finalize operation is the only mechanism to modify the Namespace.Spec.Finalizers field
//     post creation": the strategy of namespaces in package resources.
//   - "The API Server enforces that a Namespace can only be deleted from storage if and only if
//     it's Namespace.Spec.Finalizers is empty": [namespaceComplete].
//
// The second article ("k8s 中删除 namespace 时发生了什么", section 二) gives the order of a DELETE: without a
// deletionTimestamp, set it and the phase; otherwise remove the namespace if spec.finalizers is
// empty.

// systemNamespaces exist in every cluster.
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// undeletable namespaces answer 403 to a DELETE. kube-node-lease may be deleted, in kube-apiserver
// as well.
var undeletable = map[string]bool{"default": true, "kube-public": true, "kube-system": true}

func (r *Registry) makeSystemNamespaces() {
	t := Target{Definition: r.namespaces}
	for _, name := range systemNamespaces {
		o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
		if _, err := r.Create(context.Background(), t, o, WriteOptions{internal: true}); err != nil &&
			!api.IsAlreadyExists(err) {
			panic(fmt.Sprintf("registry: namespace %s: %v", name, err))
		}
	}
}

// mayCreate checks that the namespace of a new object exists and is not terminating. It runs before
// validation, so that an invalid object gets this answer first.
func (r *Registry) mayCreate(t Target) error {
	return r.place(t, func(prefix string, key store.Key) (*store.Object, bool) {
		return r.store.Collection(prefix).Get(key)
	})
}

// guard repeats mayCreate atomically with the write, so that a namespace found empty after it was
// marked stays empty. kube-apiserver asks a cache that may lag, which is why the controller checks
// twice.
func (r *Registry) guard(t Target) store.Guard {
	return func(get func(string, store.Key) (*store.Object, bool)) error { return r.place(t, get) }
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
		return resources.NotFound("", "namespaces", t.Namespace)
	case namespace.Deleting:
		return resources.NamespaceTerminating(t.Definition.Group, t.Definition.Plural, t.Name, t.Namespace)
	}
	return nil
}

// namespaceExists is the check for writes to an existing object.
func (r *Registry) namespaceExists(t Target) error {
	if !t.Definition.Namespaced {
		return nil
	}
	if _, ok := r.store.Collection(r.namespaces.Prefix).Get(store.Key{Name: t.Namespace}); !ok {
		return resources.NotFound("", "namespaces", t.Namespace)
	}
	return nil
}

// deleteNamespace handles the DELETE that marks a namespace. It returns marked=false if the
// namespace is already marked and spec.finalizers is empty. It is then deleted like any other
// object: the "final DELETE action" of the design document.
func (r *Registry) deleteNamespace(ctx context.Context, t Target, old *store.Object, o api.DeleteOptions,
	w WriteOptions,
) (after *store.Object, marked bool, err error) {
	current := old.Decode()
	if old.Deleting {
		return old, len(current.NestedStringSlice("spec", "finalizers")) > 0, nil
	}
	if err := r.admitted(ctx, "delete", t, w, current); err != nil {
		return nil, true, err
	}
	metadata := metadataOf(current)
	metadata["deletionTimestamp"] = timestamp(time.Now())
	_ = current.SetNested(string(api.NamespaceTerminating), "status", "phase") // fails only if status is not a map
	setCollectorFinalizers(current, o.PropagationPolicy)
	after, err = r.replace(t, old, current, w)
	return after, true, err
}

// namespaceComplete reports whether a terminating namespace has no finalizers left in either list.
func namespaceComplete(o *api.Unstructured) bool {
	return o.Nested("metadata", "deletionTimestamp") != nil &&
		len(o.GetFinalizers()) == 0 && len(o.NestedStringSlice("spec", "finalizers")) == 0
}
