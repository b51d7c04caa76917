package garbagecollector

import (
	"slices"
	"time"

	"orrery/examples/monitor"
	"orrery/restclient/api"
)

// node is an object, or what dependents name as their owner although no informer has seen it: then object is nil. Nodes are known by
// UID. A name can be given again; a UID never comes back.
type node struct {
	uid      string
	resource *monitor.Resource
	object   *api.PartialObjectMetadata
	// dependents name this node as an owner; the value says whether they block its deletion, blocking how many do.
	dependents map[*node]bool
	blocking   int
	// absentAt is the last place at which the server was asked for this UID and did not have it.
	absentAt place
	// marked is when the object was first seen waiting or orphaning.
	marked time.Time
}

// place is where a dependent says that its owner is.
type place struct{ apiVersion, kind, namespace, name string }

func placeOf(r api.OwnerReference, namespace string) place {
	return place{apiVersion: r.APIVersion, kind: r.Kind, namespace: namespace, name: r.Name}
}

// isAt reports whether n is the object at a place, in any version of its group. An object of the cluster is in every namespace.
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

// waiting reports whether an object is kept until its dependents are gone.
func (n *node) waiting() bool { return n.deleting() && n.hasFinalizer(finalizerForeground) }

// orphaning reports whether an object is kept until its dependents have forgotten it.
func (n *node) orphaning() bool { return n.deleting() && n.hasFinalizer(finalizerOrphan) }

// reference returns what Events and hooks call the object.
func (n *node) reference() api.ObjectReference {
	return api.ObjectReference{
		APIVersion: n.resource.GroupVersion().String(), Kind: n.resource.Kind,
		Namespace: n.object.Namespace, Name: n.object.Name, UID: n.uid, ResourceVersion: n.object.ResourceVersion,
	}
}
