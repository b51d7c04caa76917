package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"orrery/controller/manager"
	"orrery/examples/apps"
	"orrery/examples/secondparty"
	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// outside has the state of controllers outside the cluster, and the number of open watches of each
// collection.
type outside struct {
	machines  driver.Memory
	directory string // of the second party's content

	mu      sync.Mutex
	watches map[string]int
}

func newOutside() *outside {
	directory, err := os.MkdirTemp("", "second-party-")
	if err != nil {
		panic(err)
	}
	return &outside{directory: directory, watches: map[string]int{}}
}

func (o *outside) remove() {
	if o != nil {
		os.RemoveAll(o.directory)
	}
}

// trace counts watches.
func (o *outside) trace() *apiserver.Trace {
	if o == nil {
		return nil
	}
	count := func(info apiserver.RequestInfo, by int) {
		if info.Verb == "watch" {
			path, _, _ := strings.Cut(info.URI, "?")
			o.mu.Lock()
			defer o.mu.Unlock()
			o.watches[path] += by
		}
	}
	return &apiserver.Trace{
		RequestStarted: func(info apiserver.RequestInfo) { count(info, 1) },
		RequestDone:    func(info apiserver.RequestInfo, _ apiserver.RequestResult) { count(info, -1) },
	}
}

// builds is the resource of the second party's content.
const builds = "builds"

// store stores content of the second party for a namespace that has its token and is not being
// deleted.
func (w *world) store(namespace, name string) {
	o, err := w.registry().Get(w.target("namespaces", "", namespace), api.GetOptions{})
	if err != nil || o.Deleting || !holds(o, secondparty.Token) {
		return
	}
	directory := filepath.Join(w.outside.directory, namespace, secondparty.Builds.GroupResource())
	err = os.MkdirAll(directory, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, name), nil, 0o644)
	}
	if err != nil {
		w.fail("storing content: %v", err)
	}
}

func holds(namespace *store.Object, token string) bool {
	return slices.Contains(namespace.Decode().NestedStringSlice("spec", "finalizers"), token)
}

// controllersDiffer returns the work that the controllers have not done yet.
func (w *world) controllersDiffer() (wrong []string) {
	note := func(format string, arguments ...any) { wrong = append(wrong, fmt.Sprintf(format, arguments...)) }
	// One of objects and one of the collector's heads, and one for each dead connection: the server
	// cannot know that the watch has ended.
	watches := 2
	for _, p := range w.running() {
		watches += p.link.Snapshot().Dead
		for _, status := range p.managed.states() {
			if status.State != manager.Running {
				note("%s is %s: %s", status.Name, status.State, status.Why)
			}
		}
	}
	w.outside.mu.Lock()
	for path, open := range w.outside.watches {
		if open > watches {
			note("%d watches of %s are open", open, path)
		}
	}
	w.outside.mu.Unlock()
	c := w.cluster()
	c.garbage(note)
	c.workloads(note)
	c.machines(w.outside.machines.Names(), note)
	c.content(w.outside.directory, note)
	return wrong
}

// cluster is the complete state of the server.
type cluster struct {
	all    map[string][]*store.Object // by resource
	uids   map[string]bool
	spaces map[string]*store.Object
}

func (w *world) cluster() cluster {
	c := cluster{all: map[string][]*store.Object{}, uids: map[string]bool{}, spaces: map[string]*store.Object{}}
	for _, d := range w.current().Catalog().All() {
		if !d.HasVerb("list") {
			continue
		}
		page, err := w.registry().List(registry.Target{Definition: d}, api.ListOptions{})
		if err != nil {
			continue // a type that was just removed
		}
		c.all[d.Plural] = append(c.all[d.Plural], page.Items...)
		for _, o := range page.Items {
			c.uids[o.UID] = true
		}
	}
	for _, o := range c.all["namespaces"] {
		c.spaces[o.Key.Name] = o
	}
	return c
}

type noting = func(format string, arguments ...any)

// garbage finds objects that have lost all their owners.
func (c cluster) garbage(note noting) {
	for resource, objects := range c.all {
		for _, o := range objects {
			owners := headOf(o).OwnerReferences
			lost := func(r api.OwnerReference) bool { return !c.uids[r.UID] }
			if !o.Deleting && len(owners) > 0 && !slices.ContainsFunc(owners,
				func(r api.OwnerReference) bool { return !lost(r) }) {
				note("%s %s has lost its owners %v", resource, o.Key, owners)
			}
		}
	}
}

func headOf(o *store.Object) (head api.ObjectMeta) {
	if err := json.Unmarshal(o.Metadata(), &head); err != nil {
		panic(err)
	}
	return head
}

// eachAlive decodes the objects of a resource for which neither the object nor its namespace is
// being deleted.
func eachAlive[T any](c cluster, resource string, do func(*T)) {
	for _, o := range c.all[resource] {
		if space := c.spaces[o.Key.Namespace]; o.Deleting || space == nil || space.Deleting {
			continue
		}
		decoded := new(T)
		if err := json.Unmarshal(o.Body(), decoded); err != nil {
			panic(err)
		}
		do(decoded)
	}
}

// workloads compares the pods of Deployments and ReplicaSets with their specs.
func (c cluster) workloads(note noting) {
	pods := map[string]int{} // active pods by the UID of their ReplicaSet
	eachAlive(c, "pods", func(p *apps.Pod) {
		if owner := apps.ControllerOf(&p.ObjectMeta); owner != nil && p.IsActive() {
			pods[owner.UID]++
		}
	})
	eachAlive(c, "replicasets", func(s *apps.ReplicaSet) {
		if n := s.Spec.Replicas; pods[s.UID] != n || s.Status.Replicas != n || s.Status.AvailableReplicas != n ||
			s.Status.ObservedGeneration != s.Generation {
			note("replica set %s/%s wants %d pods and has %d: %+v", s.Namespace, s.Name, n, pods[s.UID], s.Status)
		}
	})
	eachAlive(c, "deployments", func(d *apps.Deployment) {
		n, is := d.Spec.Replicas, d.Status
		if is.Replicas != n || is.UpdatedReplicas != n || is.AvailableReplicas != n ||
			is.ObservedGeneration != d.Generation {
			note("deployment %s/%s of generation %d wants %d pods: %+v", d.Namespace, d.Name, d.Generation, n, is)
		}
	})
}

// machines compares VirtualMachines with the existing machines.
func (c cluster) machines(names []string, note noting) {
	for _, name := range names {
		if !slices.ContainsFunc(c.all["virtualmachines"],
			func(o *store.Object) bool { return name == o.Key.Name+"-"+o.UID }) {
			note("machine %s has no object", name)
		}
	}
	eachAlive(c, "virtualmachines", func(vm *virtualmachine.VirtualMachine) {
		if vm.Status.Phase != virtualmachine.VirtualMachineActive || !slices.Contains(names, vm.Name+"-"+vm.UID) {
			note("virtual machine %s/%s: %+v", vm.Namespace, vm.Name, vm.Status)
		}
	})
}

// content finds content of the second party whose namespace is gone or no longer held.
func (c cluster) content(directory string, note noting) {
	files, err := filepath.Glob(filepath.Join(directory, "*", "*", "*"))
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		path, _ := filepath.Rel(directory, file)
		namespace, _, _ := strings.Cut(filepath.ToSlash(path), "/")
		if space := c.spaces[namespace]; space == nil || !holds(space, secondparty.Token) {
			note("content of namespace %s was left behind: %s", namespace, path)
		}
	}
}
