package garbagecollector

import (
	"slices"
	"sync"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// item names an object: what the work queue holds.
type item struct {
	resource api.GroupVersionResource
	key      store.Key
}

// graph knows who depends on whom, as far as events have told. It serves to know whom to look at; what is done is decided
// by looking. Only objects with owner references are in it, which are few.
type graph struct {
	// mu guards the rest.
	mu sync.Mutex
	// owners holds the references of every dependent.
	owners map[item][]reference
	// dependents is the same the other way round: by the UID of the owner.
	dependents map[string]map[item]struct{}
}

func newGraph() *graph {
	return &graph{owners: map[item][]reference{}, dependents: map[string]map[item]struct{}{}}
}

// put notes the owners of an object, none for an object that has gone, and returns those that were noted before.
func (g *graph) put(i item, references []reference) (before []reference) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before = g.owners[i]
	for _, r := range before {
		delete(g.dependents[r.uid], i)
		if len(g.dependents[r.uid]) == 0 {
			delete(g.dependents, r.uid)
		}
	}
	delete(g.owners, i)
	if len(references) > 0 {
		g.owners[i] = references
	}
	for _, r := range references {
		if g.dependents[r.uid] == nil {
			g.dependents[r.uid] = map[item]struct{}{}
		}
		g.dependents[r.uid][i] = struct{}{}
	}
	g.checkLocked()
	return before
}

// of returns the dependents of an owner, in no particular order.
func (g *graph) of(uid string) []item {
	g.mu.Lock()
	defer g.mu.Unlock()
	found := make([]item, 0, len(g.dependents[uid]))
	for i := range g.dependents[uid] {
		found = append(found, i)
	}
	return found
}

// all returns the dependents that are objects of a resource.
func (g *graph) all(resource api.GroupVersionResource) []item {
	g.mu.Lock()
	defer g.mu.Unlock()
	var found []item
	for i := range g.owners {
		if i.resource == resource {
			found = append(found, i)
		}
	}
	return found
}

// checked makes every change verify that both maps say the same. Tests set it.
var checked = false

func (g *graph) checkLocked() {
	if !checked {
		return
	}
	edges := 0
	for i, references := range g.owners {
		for _, r := range references {
			if _, ok := g.dependents[r.uid][i]; !ok {
				panic("garbagecollector: an owner does not know its dependent")
			}
		}
		uids := make([]string, 0, len(references))
		for _, r := range references {
			uids = append(uids, r.uid)
		}
		slices.Sort(uids)
		edges += len(slices.Compact(uids))
	}
	for uid, items := range g.dependents {
		if len(items) == 0 {
			panic("garbagecollector: a UID without dependents is kept: " + uid)
		}
		edges -= len(items)
	}
	if edges != 0 {
		panic("garbagecollector: an owner knows a dependent that does not name it")
	}
}
