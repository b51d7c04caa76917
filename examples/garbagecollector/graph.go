package garbagecollector

import (
	"slices"
	"sync"
	"time"

	"orrery/restclient/api"
)

// graph is the graph of owners and dependents. Informers write it, passes read it, and a change
// that may need a pass queues one.
type graph struct {
	queue func(uid string) // queues a pass over the object with this UID

	mu    sync.Mutex // guards the nodes as well
	nodes map[string]*node
}

// observe adds an object, or a new state of one.
func (g *graph) observe(r *Resource, object *api.PartialObjectMetadata) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.atLocked(object.UID)
	isNew := n.object == nil
	n.resource, n.absentAt = r, place{}
	g.setLocked(n, object)
	if n.marked.IsZero() && (n.waiting() || n.orphaning()) {
		n.marked = time.Now()
	}
	if g.isPendingLocked(n) {
		g.queue(n.uid)
	}
	if isNew || n.waiting() { // dependents that came first may name it in the wrong place
		g.queueDependentsLocked(n)
	}
}

// vanish forgets all objects that were last observed with r.
func (g *graph) vanish(r *Resource) {
	for _, uid := range g.all(func(n *node) bool { return n.resource == r }) {
		g.forget(r, uid)
	}
}

// forget removes an object that was last observed with r.
func (g *graph) forget(r *Resource, uid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil || n.resource != r { // another informer sees the object now
		return
	}
	g.setLocked(n, nil)
	g.queueDependentsLocked(n)
	g.tidyLocked(n)
}

// atLocked returns the node of a UID; it adds one if there is none. tidyLocked removes a node
// without object and dependents.
func (g *graph) atLocked(uid string) *node {
	n := g.nodes[uid]
	if n == nil {
		n = &node{uid: uid}
		g.nodes[uid] = n
	}
	return n
}

func (g *graph) tidyLocked(n *node) {
	if n.object == nil && len(n.dependents) == 0 {
		delete(g.nodes, n.uid)
	}
}

// setLocked gives a node another object, or none, and updates the owners that it named before and
// those that it names now.
func (g *graph) setLocked(n *node, object *api.PartialObjectMetadata) {
	before := n.owners()
	n.object = object
	for _, r := range before {
		owner := g.atLocked(r.UID)
		if owner.dependents[n] {
			owner.blocking--
		}
		delete(owner.dependents, n)
	}
	for _, r := range n.owners() {
		owner := g.atLocked(r.UID)
		if owner.dependents == nil {
			owner.dependents = map[*node]bool{}
		}
		if blocks(r) && !owner.dependents[n] {
			owner.blocking++
		}
		owner.dependents[n] = owner.dependents[n] || blocks(r)
	}
	for _, r := range before {
		owner := g.atLocked(r.UID)
		if owner.waiting() && owner.blocking == 0 {
			g.queue(owner.uid)
		}
		g.tidyLocked(owner)
	}
}

// isPendingLocked reports whether an object may need a pass: it waits for its dependents or orphans
// them, or one of its owners waits or is not known in the place that the object names. It saves the
// server requests for all other objects.
func (g *graph) isPendingLocked(n *node) bool {
	return n.waiting() || n.orphaning() || !n.deleting() &&
		slices.ContainsFunc(n.owners(), func(r api.OwnerReference) bool {
			owner := g.nodes[r.UID]
			return owner.object == nil || owner.waiting() || !owner.isAt(placeOf(r, n.object.Namespace))
		})
}

func (g *graph) queueDependentsLocked(n *node) {
	for dependent := range n.dependents {
		if g.isPendingLocked(dependent) {
			g.queue(dependent.uid)
		}
	}
}

// look returns a copy of a node, and whether it may need a pass. Only the graph may read the copy's
// dependents.
func (g *graph) look(uid string) (n node, pending bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := g.nodes[uid]; at != nil {
		return *at, g.isPendingLocked(at)
	}
	return node{}, false
}

// all returns the UIDs of the nodes for which wanted is true. It holds mu meanwhile.
func (g *graph) all(wanted func(n *node) bool) (uids []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, n := range g.nodes {
		if wanted(n) {
			uids = append(uids, uid)
		}
	}
	return uids
}

// pending returns the objects that may need a pass.
func (g *graph) pending() []string { return g.all(g.isPendingLocked) }

// queuePending queues them.
func (g *graph) queuePending() {
	for _, uid := range g.pending() {
		g.queue(uid)
	}
}

// dependents returns copies of the dependents of an object.
func (g *graph) dependents(uid string) (copies []node) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil {
		for dependent := range n.dependents {
			copies = append(copies, *dependent)
		}
	}
	return copies
}

// waitsForItself reports whether an object is in a cycle of objects that wait for each other.
func (g *graph) waitsForItself(uid string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	start := g.nodes[uid]
	return start != nil && start.waitsFor(start, map[*node]bool{})
}

func (n *node) waitsFor(end *node, seen map[*node]bool) bool {
	for dependent, blocking := range n.dependents {
		if !blocking || !dependent.waiting() || seen[dependent] {
			continue
		}
		seen[dependent] = true
		if dependent == end || dependent.waitsFor(end, seen) {
			return true
		}
	}
	return false
}

// setAbsent notes, for all dependents of an owner, that the server does not have it in this place.
func (g *graph) setAbsent(uid string, p place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil {
		n.absentAt = p
	}
}

// node is an object, or an owner that dependents name and no informer has seen; then object is nil.
// Nodes are known by UID: a name can be reused, a UID cannot.
type node struct {
	uid      string
	resource *Resource
	object   *api.PartialObjectMetadata
	// dependents name this node as an owner; the value is true if the dependent blocks its
	// deletion. blocking counts those.
	dependents map[*node]bool
	blocking   int
	absentAt   place // where the server last did not have this UID
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
