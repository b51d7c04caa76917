package garbagecollector

import (
	"slices"
	"time"

	"orrery/examples/monitor"
	"orrery/restclient/api"
)

// node is an object, or an owner that dependents name and no informer has seen; then object is nil.
// Nodes are known by UID: a name can be reused, a UID cannot.
type node struct {
	uid      string
	resource *monitor.Resource
	object   *api.PartialObjectMetadata
	// dependents name this node as an owner; the value is true if the dependent blocks its
	// deletion. blocking counts those.
	dependents map[*node]bool
	blocking   int
	// absentAt is the last place in which the server did not have this UID.
	absentAt place
	// marked is when the object was first seen waiting or orphaning.
	marked time.Time
}

// place is where a dependent says that its owner is.
type place struct{ apiVersion, kind, namespace, name string }

func placeOf(r api.OwnerReference, namespace string) place {
	return place{apiVersion: r.APIVersion, kind: r.Kind, namespace: namespace, name: r.Name}
}

// isAt reports whether n is the object in a place, in any version of its group. A cluster-scoped
// object is in every namespace.
func (n *node) isAt(p place) bool {
	version, err := api.ParseGroupVersion(p.apiVersion)
	return err == nil && n.resource.Group == version.Group && n.resource.Kind == p.kind && n.object.Name == p.name &&
		(!n.resource.Namespaced || n.object.Namespace == p.namespace)
}

// owners returns the references of an object, none for an object that is not known.
func (n *node) owners() []api.OwnerReference {
	if n.object == nil {
		return nil
	}
	return n.object.OwnerReferences
}

func blocks(r api.OwnerReference) bool { return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion }

// The finalizers that the API server adds for the garbage collector, which removes them.
const (
	finalizerForeground = "foregroundDeletion"
	finalizerOrphan     = "orphan"
)

// deleting reports whether an object is being deleted.
func (n *node) deleting() bool { return n.object != nil && n.object.DeletionTimestamp != nil }

func (n *node) hasFinalizer(finalizer string) bool {
	return n.object != nil && slices.Contains(n.object.Finalizers, finalizer)
}

// waiting reports whether an object waits until its dependents are gone.
func (n *node) waiting() bool { return n.deleting() && n.hasFinalizer(finalizerForeground) }

// orphaning reports whether an object waits until no dependent names it as an owner any more.
func (n *node) orphaning() bool { return n.deleting() && n.hasFinalizer(finalizerOrphan) }

// reference returns the reference to the object in Events and hooks.
func (n *node) reference() api.ObjectReference {
	return api.ObjectReference{
		APIVersion: n.resource.GroupVersion().String(), Kind: n.resource.Kind,
		Namespace: n.object.Namespace, Name: n.object.Name, UID: n.uid, ResourceVersion: n.object.ResourceVersion,
	}
}
