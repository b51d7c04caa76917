package garbagecollector

import (
	"slices"
	"sync"
	"time"

	"orrery/examples/monitor"
	"orrery/restclient/api"
)

// graph knows who depends on whom. Informers write it, passes read it, and a change that may call for a pass queues one.
type graph struct {
	// attemptToDelete and attemptToOrphan queue a pass over the object with this UID.
	attemptToDelete, attemptToOrphan func(uid string)

	mu    sync.Mutex // guards the nodes as well
	nodes map[string]*node
}

// observe takes in a new object, or a new state of one.
func (g *graph) observe(r *monitor.Resource, object *api.PartialObjectMetadata) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.atLocked(object.UID)
	old, isNew := n.owners(), n.object == nil
	n.resource, n.object, n.absentAt = r, object, place{}
	g.relinkLocked(n, old)
	if n.marked.IsZero() && (n.waiting() || n.orphaning()) {
		n.marked = time.Now()
	}
	switch {
	case n.orphaning():
		g.attemptToOrphan(n.uid)
	case g.isDeletableLocked(n):
		g.attemptToDelete(n.uid)
	}
	if isNew { // dependents that were here first may be wrong about its place
		g.queueDependentsLocked(n)
	}
}

// vanish takes in that the objects of a type cannot be seen any more.
func (g *graph) vanish(r *monitor.Resource) {
	for _, uid := range g.all(func(n *node) bool { return n.resource == r }) {
		g.forget(r, uid)
	}
}

// forget takes in that an object of this type is gone.
func (g *graph) forget(r *monitor.Resource, uid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil || n.resource != r { // the object is seen in another version of its group now
		return
	}
	old := n.owners()
	n.object = nil
	g.relinkLocked(n, old)
	g.queueDependentsLocked(n)
	g.tidyLocked(n)
}

// atLocked returns the node of a UID, a new one if need be. tidyLocked drops one that stands for nothing.
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

// relinkLocked tells the owners that n named before, and those that it names now.
func (g *graph) relinkLocked(n *node, before []api.OwnerReference) {
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
			g.attemptToDelete(owner.uid)
		}
		g.tidyLocked(owner)
	}
}

// isDeletableLocked reports whether there may be something to do about an object: it waits for its dependents, or an owner is not known
// where the object says that it is, or waits in turn. It spares the server questions about objects that are in good order.
func (g *graph) isDeletableLocked(n *node) bool {
	return n.waiting() || !n.deleting() && slices.ContainsFunc(n.owners(), func(r api.OwnerReference) bool {
		owner := g.nodes[r.UID]
		return owner.object == nil || owner.waiting() || !owner.isAt(placeOf(r, n.object.Namespace))
	})
}

func (g *graph) queueDependentsLocked(n *node) {
	for dependent := range n.dependents {
		if g.isDeletableLocked(dependent) {
			g.attemptToDelete(dependent.uid)
		}
	}
}

// look returns a copy of a node, and whether it is deletable. Only the graph may look at the copy's dependents.
func (g *graph) look(uid string) (n node, deletable bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := g.nodes[uid]; at != nil {
		return *at, g.isDeletableLocked(at)
	}
	return node{}, false
}

// all returns the objects for which wanted is true.
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

func (g *graph) deletable() []string { return g.all(g.isDeletableLocked) }

func (g *graph) orphaning() []string { return g.all((*node).orphaning) }

// dependents returns the dependents of an object.
func (g *graph) dependents(uid string) (uids []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil {
		for dependent := range n.dependents {
			uids = append(uids, dependent.uid)
		}
	}
	return uids
}

// waitsForItself reports whether an object waits for a dependent that waits for a dependent, and so on, that is the object.
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

// setAbsent notes that the server does not have an owner where a dependent says that it is: one question is enough for all of them.
func (g *graph) setAbsent(uid string, p place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil {
		n.absentAt = p
	}
}
