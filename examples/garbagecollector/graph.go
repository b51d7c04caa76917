package garbagecollector

import (
	"slices"
	"sync"
	"time"

	"orrery/restclient/api"
)

// graph knows who depends on whom. Informers write it, passes read it, and a change that may call for a pass queues one.
type graph struct {
	// attemptToDelete and attemptToOrphan queue a pass over the object with this UID. They do not block.
	attemptToDelete, attemptToOrphan func(uid string)

	mu    sync.Mutex // guards all nodes as well
	nodes map[string]*node
}

// node is an object, or what dependents name as their owner although no informer has seen it: then object is nil.
//
// Nodes are known by UID. A name can be given again; a UID never comes back.
type node struct {
	uid      string
	resource *resource
	object   *api.PartialObjectMetadata
	// dependents are the nodes that name this one as an owner; the value says whether they block its deletion.
	dependents map[*node]bool
	blocking   int // how many of the values are true
	// absent are the places where the server was asked for this UID and does not have it.
	absent map[place]bool
	// marked is when the mark for a deletion that involves the dependents was seen first.
	marked time.Time
}

// place is where a dependent says that its owner is.
type place struct{ apiVersion, kind, namespace, name string }

// resource is a type of objects.
type resource struct {
	api.GroupVersionResource
	kind       string
	namespaced bool
}

// The finalizers that the API server adds for the garbage collector, which removes them.
const (
	finalizerForeground = "foregroundDeletion"
	finalizerOrphan     = "orphan"
)

func deletedWith(object *api.PartialObjectMetadata, finalizer string) bool {
	return object != nil && object.DeletionTimestamp != nil && slices.Contains(object.Finalizers, finalizer)
}

// waiting reports whether an object is kept until its dependents are gone.
func waiting(object *api.PartialObjectMetadata) bool { return deletedWith(object, finalizerForeground) }

// orphaning reports whether an object is kept until its dependents have forgotten it.
func orphaning(object *api.PartialObjectMetadata) bool { return deletedWith(object, finalizerOrphan) }

// observe takes in a new object, or a new state of one.
func (g *graph) observe(r *resource, object *api.PartialObjectMetadata) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.atLocked(object.UID)
	before := n.object
	n.resource, n.object = r, object
	g.relinkLocked(n, before)
	switch {
	case orphaning(object):
		n.mark()
		g.attemptToOrphan(n.uid)
	case waiting(object):
		n.mark()
		g.attemptToDelete(n.uid)
	case object.DeletionTimestamp == nil && !g.ownedLocked(n):
		g.attemptToDelete(n.uid)
	}
	if before == nil { // dependents that were here first may be wrong about its place
		g.queueDependentsLocked(n)
	}
}

// forget takes in that an object is gone. r is where that was seen: an object may have moved to another version of its type.
func (g *graph) forget(r *resource, uid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil || n.object == nil || n.resource != r {
		return
	}
	before := n.object
	n.object = nil
	g.relinkLocked(n, before)
	g.queueDependentsLocked(n)
	g.tidyLocked(n)
}

// forgetAll forgets the objects of a type. It is not known whether they exist.
func (g *graph) forgetAll(r *resource) {
	for _, uid := range g.uids(func(n *node) bool { return n.object != nil && n.resource == r }) {
		g.forget(r, uid)
	}
}

// atLocked returns the node of a UID, a new one if need be.
func (g *graph) atLocked(uid string) *node {
	n := g.nodes[uid]
	if n == nil {
		n = &node{uid: uid}
		g.nodes[uid] = n
	}
	return n
}

// tidyLocked drops a node that stands for nothing.
func (g *graph) tidyLocked(n *node) {
	if n.object == nil && len(n.dependents) == 0 {
		delete(g.nodes, n.uid)
	}
}

func (n *node) mark() {
	if n.marked.IsZero() {
		n.marked = time.Now()
	}
}

// relinkLocked makes the owners that n names now know n, and those that it does not name any more forget it.
func (g *graph) relinkLocked(n *node, before *api.PartialObjectMetadata) {
	old, now := referencesOf(before), referencesOf(n.object)
	if slices.EqualFunc(old, now, func(a, b api.OwnerReference) bool { return a.UID == b.UID && blocks(a) == blocks(b) }) {
		return
	}
	for _, reference := range old {
		g.linkLocked(reference.UID, n, false)
		delete(g.atLocked(reference.UID).dependents, n)
	}
	for _, reference := range now {
		owner := g.atLocked(reference.UID)
		g.linkLocked(reference.UID, n, blocks(reference) || owner.dependents[n])
	}
	for _, reference := range old {
		owner := g.atLocked(reference.UID)
		if owner.blocking == 0 && waiting(owner.object) {
			g.attemptToDelete(owner.uid)
		}
		g.tidyLocked(owner)
	}
}

// linkLocked makes an owner know a dependent, or what has changed about it.
func (g *graph) linkLocked(uid string, dependent *node, blocking bool) {
	owner := g.atLocked(uid)
	if owner.dependents == nil {
		owner.dependents = map[*node]bool{}
	}
	if owner.dependents[dependent] {
		owner.blocking--
	}
	if blocking {
		owner.blocking++
	}
	owner.dependents[dependent] = blocking
}

func referencesOf(object *api.PartialObjectMetadata) []api.OwnerReference {
	if object == nil {
		return nil
	}
	return object.OwnerReferences
}

func blocks(r api.OwnerReference) bool { return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion }

// ownedLocked reports whether the graph knows every owner of n, where n says that it is, and none of them waits for n. It
// spares the server questions about objects that are in good order.
func (g *graph) ownedLocked(n *node) bool {
	return !slices.ContainsFunc(n.object.OwnerReferences, func(reference api.OwnerReference) bool {
		owner := g.nodes[reference.UID]
		return owner.object == nil || waiting(owner.object) || !owner.isAt(placeOf(reference, n.object.Namespace))
	})
}

func placeOf(r api.OwnerReference, namespace string) place {
	return place{apiVersion: r.APIVersion, kind: r.Kind, namespace: namespace, name: r.Name}
}

// isAt reports whether n is the object at a place, in whatever version of its group. An object of the cluster is in every namespace.
func (n *node) isAt(p place) bool {
	version, err := api.ParseGroupVersion(p.apiVersion)
	return err == nil && n.resource.Group == version.Group && n.resource.kind == p.kind && n.object.Name == p.name &&
		(!n.resource.namespaced || n.object.Namespace == p.namespace)
}

// queueDependentsLocked queues the dependents that are not in good order and not being deleted yet.
func (g *graph) queueDependentsLocked(n *node) {
	for dependent := range n.dependents {
		if dependent.object.DeletionTimestamp == nil && !g.ownedLocked(dependent) {
			g.attemptToDelete(dependent.uid)
		}
	}
}
