package nsctltest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"orrery/restclient/api"
)

// fate is everything in a world but the deleter. Users create and delete namespaces and content,
// types come and go, aggregated servers fail, and other clients write to namespaces and hold them.
type fate struct {
	*world
	random *rand.Rand
}

// foreignToken is the finalizer of another party.
const foreignToken = "example.com/other"

var events = []struct {
	weight int
	happen func(f *fate)
}{
	{15, (*fate).createNamespace},
	{15, (*fate).terminateNamespace},
	{40, (*fate).createObject},
	{40, (*fate).releaseObject},
	{8, (*fate).changeNamespace},
	{6, (*fate).releaseNamespace},
	{3, (*fate).toggleStale},
	{3, (*fate).toggleForbidden},
	{4, (*fate).toggleType},
	{8, (*fate).moveType},
}

// rage draws events until that many steps were made.
func (f *fate) rage(steps int) {
	f.random = rand.New(rand.NewPCG(f.seed, 0))
	total := 0
	for _, event := range events {
		total += event.weight
	}
	for {
		time.Sleep(time.Duration(f.random.Int64N(int64(300 * time.Millisecond))))
		f.mu.Lock()
		done := f.steps >= steps || len(f.violations) > 0 // later steps would prove nothing
		f.mu.Unlock()
		if done {
			return
		}
		die := f.random.IntN(total)
		for _, event := range events {
			if die -= event.weight; die < 0 {
				f.mu.Lock()
				f.steps++
				event.happen(f)
				f.mu.Unlock()
				break
			}
		}
	}
}

// lingering ends all faults, waits, and returns the namespaces still terminating.
func (f *fate) lingering(timeout time.Duration) (names []string) {
	f.mu.Lock()
	f.hostile = false
	clear(f.stale)
	for _, t := range f.types {
		t.forbids = false
	}
	f.mu.Unlock()
	for until := time.Now().Add(timeout); time.Now().Before(until); time.Sleep(10 * time.Second) {
		f.mu.Lock()
		names = nil
		for _, name := range sortedNames(f.source.Objects()) {
			for _, object := range f.content[name] {
				object.finalizers = nil
			}
			ns := f.source.Objects()[name]
			if ns.DeletionTimestamp != nil {
				names = append(names, name)
				f.releaseLocked(ns)
			}
		}
		f.mu.Unlock()
		if len(names) == 0 {
			return nil
		}
	}
	return names
}

// pick returns one of the matching namespaces, or nil.
func (f *fate) pick(fits func(ns *api.Namespace) bool) *api.Namespace {
	all := f.source.Objects()
	names := slices.DeleteFunc(sortedNames(all), func(name string) bool { return !fits(all[name]) })
	if len(names) == 0 {
		return nil
	}
	return all[names[f.random.IntN(len(names))]]
}

func isActive(ns *api.Namespace) bool { return ns.DeletionTimestamp == nil }

func (f *fate) createNamespace() {
	name := fmt.Sprint("ns-", f.random.IntN(12))
	if f.source.Objects()[name] != nil {
		return
	}
	f.born++
	ns := &api.Namespace{}
	ns.Name, ns.UID = name, fmt.Sprint("uid-", f.born)
	ns.Spec.Finalizers = []string{api.FinalizerKubernetes}
	if f.random.IntN(8) == 0 {
		ns.Spec.Finalizers = append(ns.Spec.Finalizers, foreignToken)
	}
	ns.Status.Phase = api.NamespaceActive
	f.source.Add(ns)
	f.content[name] = map[worldKey]*worldObject{}
	for range f.random.IntN(8) {
		f.createObjectIn(ns)
	}
}

func (f *fate) terminateNamespace() {
	ns := f.pick(isActive)
	if ns == nil {
		return
	}
	deleted := *ns
	now := api.NewTime(time.Now().Truncate(time.Second)) // with the response, as specified
	deleted.DeletionTimestamp = &now
	if f.random.IntN(4) > 0 {
		deleted.Status.Phase = api.NamespaceTerminating // otherwise like an old server
	}
	f.deletedAt[ns.UID] = time.Now()
	f.source.Modify(&deleted)
}

// createObject creates an object. A server that does not know of the deletion yet may create it in
// a terminating namespace.
func (f *fate) createObject() {
	ns := f.pick(func(ns *api.Namespace) bool { return isActive(ns) || time.Since(f.deletedAt[ns.UID]) < worldGrace })
	if ns != nil {
		f.createObjectIn(ns)
	}
}

func (f *fate) createObjectIn(ns *api.Namespace) {
	types := slices.SortedFunc(maps.Keys(f.types), func(a, b api.GroupVersionResource) int {
		return compareStrings(a.Group+a.Resource, b.Group+b.Resource)
	})
	gvr := types[f.random.IntN(len(types))]
	f.born++
	object := &worldObject{}
	if f.random.IntN(4) == 0 {
		object.finalizers = []string{"example.com/hold"}
	}
	if gvr == api.PodsResource {
		object.grace = time.Duration(f.random.IntN(40)) * time.Second
	}
	f.content[ns.Name][worldKey{gvr, fmt.Sprint("o", f.born)}] = object
}

// releaseObject removes the finalizers of an object.
func (f *fate) releaseObject() {
	if ns := f.pick(func(*api.Namespace) bool { return true }); ns != nil {
		if keys := f.leftLocked(ns.Name); len(keys) > 0 {
			f.content[ns.Name][keys[f.random.IntN(len(keys))]].finalizers = nil
		}
	}
}

// changeNamespace makes the next write of another client fail with a conflict.
func (f *fate) changeNamespace() {
	if ns := f.pick(func(*api.Namespace) bool { return true }); ns != nil {
		touched := *ns
		touched.Labels = map[string]string{"touched": fmt.Sprint(f.steps)}
		f.source.Modify(&touched)
	}
}

func (f *fate) releaseNamespace() {
	if ns := f.pick(func(ns *api.Namespace) bool { return slices.Contains(ns.Spec.Finalizers, foreignToken) }); ns != nil {
		f.releaseLocked(ns)
	}
}

// releaseLocked removes the token of the other party.
func (f *fate) releaseLocked(ns *api.Namespace) {
	if !slices.Contains(ns.Spec.Finalizers, foreignToken) {
		return
	}
	released := *ns
	released.Spec.Finalizers = slices.DeleteFunc(slices.Clone(ns.Spec.Finalizers), func(token string) bool { return token == foreignToken })
	f.storeLocked(&released)
}

// toggleStale takes the server of a group down, or starts it again.
func (f *fate) toggleStale() {
	if len(f.stale) > 0 {
		clear(f.stale)
		return
	}
	f.stale[[]string{"far.example", "apps", ""}[f.random.IntN(3)]] = true
}

// toggleForbidden forbids or allows listing a type.
func (f *fate) toggleForbidden() {
	gvr := []api.GroupVersionResource{{Version: "v1", Resource: "secrets"}, {Group: "apps", Version: "v1", Resource: "deployments"}}[f.random.IntN(2)]
	allowed := true
	for _, t := range f.types {
		allowed = allowed && !t.forbids
		t.forbids = false
	}
	f.types[gvr].forbids = allowed
}

// toggleType deletes a type and all its objects, or creates it.
func (f *fate) toggleType() {
	gvr := api.GroupVersionResource{Group: fmt.Sprintf("crd%d.example", f.random.IntN(3)), Version: "v1", Resource: "widgets"}
	if f.types[gvr] == nil {
		f.types[gvr] = &worldType{verbs: []string{"create", "delete", "deletecollection", "get", "list"}}
		return
	}
	delete(f.types, gvr)
	for _, objects := range f.content {
		maps.DeleteFunc(objects, func(key worldKey, _ *worldObject) bool { return key.gvr == gvr })
	}
}

// moveType serves a type at another version.
func (f *fate) moveType() { f.moveLocked() }
