package garbagecollector

import (
	"maps"
	"time"

	"orrery/restclient/api"
)

// The questions that passes ask of the graph.

// sight is a node as a pass sees it at one moment.
type sight struct {
	uid      string
	resource *resource
	object   *api.PartialObjectMetadata
	owned    bool // nothing is to be done about its owners
	depended bool // it has dependents
	blocking int
	marked   time.Time
}

// look returns the node of a UID; false if no informer has seen the object, or it is gone.
func (g *graph) look(uid string) (sight, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil || n.object == nil {
		return sight{}, false
	}
	return sight{
		uid: uid, resource: n.resource, object: n.object, owned: g.ownedLocked(n),
		depended: len(n.dependents) > 0, blocking: n.blocking, marked: n.marked,
	}, true
}

// uids returns the nodes for which wanted is true.
func (g *graph) uids(wanted func(n *node) bool) (found []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for uid, n := range g.nodes {
		if wanted(n) {
			found = append(found, uid)
		}
	}
	return found
}

// deletable returns the objects that need a pass of attemptToDelete, and orphans those that need one of attemptToOrphan.
func (g *graph) deletable() []string {
	return g.uids(func(n *node) bool {
		return n.object != nil && (waiting(n.object) || n.object.DeletionTimestamp == nil && !g.ownedLocked(n))
	})
}

func (g *graph) orphans() []string {
	return g.uids(func(n *node) bool { return orphaning(n.object) })
}

// queueDependents queues the dependents of an object that are not being deleted yet.
func (g *graph) queueDependents(uid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil {
		g.queueDependentsLocked(n)
	}
}

// dependentsOf returns the dependents of an object.
func (g *graph) dependentsOf(uid string) (found []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.nodes[uid]; n != nil {
		for dependent := range maps.Keys(n.dependents) {
			found = append(found, dependent.uid)
		}
	}
	return found
}

// waitsForItself reports whether an object waits for a dependent that waits for a dependent, and so on, that is the object.
func (g *graph) waitsForItself(uid string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	start := g.nodes[uid]
	if start == nil {
		return false
	}
	seen, next := map[*node]bool{}, []*node{start}
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		for dependent, blocking := range n.dependents {
			if !blocking || seen[dependent] || !waiting(dependent.object) {
				continue
			}
			if dependent == start {
				return true
			}
			seen[dependent] = true
			next = append(next, dependent)
		}
	}
	return false
}

// isAbsent reports whether it is known that an owner does not exist where a dependent says that it is, and setAbsent notes it.
// The note is kept as long as there are dependents.
func (g *graph) isAbsent(uid string, p place) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	return n != nil && n.absent[p]
}

func (g *graph) setAbsent(uid string, p place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	if n == nil {
		return
	}
	if n.absent == nil {
		n.absent = map[place]bool{}
	}
	n.absent[p] = true
}

// elsewhere reports whether an owner exists, but in another namespace than a dependent.
func (g *graph) elsewhere(uid, namespace string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[uid]
	return n != nil && n.object != nil && n.resource.namespaced && n.object.Namespace != namespace
}
