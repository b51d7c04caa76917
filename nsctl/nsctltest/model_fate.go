package nsctltest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// fate is everything in a world but the deleter. Users create and delete namespaces and content,
// types come and go, aggregated servers fail, and other clients write to namespaces and hold them.
type fate struct {
	*world
	random *rand.Rand
}

var events = []struct {
	weight int
	happen func(f *fate)
}{
	{15, (*fate).createNamespace},
	{15, (*fate).terminateNamespace},
	{40, (*fate).createObject},
	{40, (*fate).releaseObject},
	{8, (*fate).changeNamespace},
	{3, (*fate).toggleStale},
	{4, (*fate).toggleType},
	{8, (*fate).moveLocked},
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
	f.hostile, f.cluster.Stale = false, nil
	f.mu.Unlock()
	for until := time.Now().Add(timeout); time.Now().Before(until); time.Sleep(10 * time.Second) {
		f.mu.Lock()
		names = nil
		for _, ns := range f.matching(func(*api.Namespace) bool { return true }) {
			for _, held := range f.cluster.Left(ns.Name) {
				f.release(ns.Name, held)
			}
			if !isActive(ns) {
				names = append(names, ns.Name)
			}
		}
		f.mu.Unlock()
		if len(names) == 0 {
			return nil
		}
	}
	return names
}

// matching returns the matching namespaces, sorted by name.
func (f *fate) matching(fits func(ns *api.Namespace) bool) (found []*api.Namespace) {
	f.cluster.mu.Lock()
	defer f.cluster.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(f.cluster.namespaces)) {
		if ns := f.cluster.namespaces[name]; fits(ns) {
			found = append(found, ns)
		}
	}
	return found
}

// pick returns one of the matching namespaces, or nil.
func (f *fate) pick(fits func(ns *api.Namespace) bool) *api.Namespace {
	all := f.matching(fits)
	if len(all) == 0 {
		return nil
	}
	return all[f.random.IntN(len(all))]
}

func isActive(ns *api.Namespace) bool { return ns.DeletionTimestamp == nil }

func (f *fate) createNamespace() {
	name := fmt.Sprint("ns-", f.random.IntN(12))
	if f.cluster.Namespace(name) != nil {
		return
	}
	f.cluster.AddNamespace(name, false, api.FinalizerKubernetes)
	for range f.random.IntN(8) {
		f.createObjectIn(name)
	}
}

func (f *fate) terminateNamespace() {
	ns := f.pick(isActive)
	if ns == nil {
		return
	}
	f.deletedAt[ns.UID] = time.Now()
	f.cluster.Update(ns.Name, func(ns *api.Namespace) {
		now := api.NewTime(time.Now())
		ns.DeletionTimestamp = &now
		if f.random.IntN(4) > 0 {
			ns.Status.Phase = api.NamespaceTerminating // otherwise like an old server
		}
	})
}

// createObject creates an object. A server that does not know of the deletion yet may create it in
// a terminating namespace.
func (f *fate) createObject() {
	ns := f.pick(func(ns *api.Namespace) bool { return isActive(ns) || time.Since(f.deletedAt[ns.UID]) < worldGrace })
	if ns != nil {
		f.createObjectIn(ns.Name)
	}
}

func (f *fate) createObjectIn(namespace string) {
	var types []string
	for groupVersion, resources := range f.cluster.Types {
		gv, _ := api.ParseGroupVersion(groupVersion)
		for _, resource := range resources {
			types = append(types, resource+"."+gv.Group)
		}
	}
	slices.Sort(types)
	resource := types[f.random.IntN(len(types))]
	f.born++
	var adjust []func(*item)
	if f.random.IntN(4) == 0 {
		adjust = append(adjust, WithFinalizers("example.com/hold"))
	}
	if resource == "pods." {
		adjust = append(adjust, RunningPod(f.random.Int64N(40)))
	}
	f.cluster.Put(resource, namespace, fmt.Sprint("o", f.born), adjust...)
}

// releaseObject removes the finalizers of an object.
func (f *fate) releaseObject() {
	if ns := f.pick(func(*api.Namespace) bool { return true }); ns != nil {
		if left := f.cluster.Left(ns.Name); len(left) > 0 {
			f.release(ns.Name, left[f.random.IntN(len(left))])
		}
	}
}

// release removes the finalizers of what [Cluster.Left] has returned.
func (f *fate) release(namespace, held string) {
	resource, name, _ := strings.Cut(held, "/")
	f.cluster.Release(resource, namespace, name)
}

// changeNamespace makes the next write of another client fail with a conflict.
func (f *fate) changeNamespace() {
	if ns := f.pick(func(*api.Namespace) bool { return true }); ns != nil {
		f.cluster.Update(ns.Name,
			func(ns *api.Namespace) { ns.Labels = map[string]string{"touched": fmt.Sprint(f.steps)} })
	}
}

// toggleStale takes the server of a group down, or starts it again.
func (f *fate) toggleStale() {
	if len(f.cluster.Stale) > 0 {
		f.cluster.Stale = nil
		return
	}
	f.cluster.Stale = []string{[]string{"far.example/v1", "apps/v1", "v1"}[f.random.IntN(3)]}
}

// toggleType deletes a type and all its objects, or creates it.
func (f *fate) toggleType() {
	group := fmt.Sprintf("crd%d.example", f.random.IntN(3))
	if f.cluster.Types[group+"/v1"] == nil {
		f.cluster.Define(group+"/v1", "widgets")
		return
	}
	f.cluster.Undefine(group + "/v1")
	f.cluster.mu.Lock()
	defer f.cluster.mu.Unlock()
	delete(f.cluster.content, "widgets."+group)
}
