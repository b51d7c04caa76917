package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

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

// violations returns errors that can never be corrected.
func (w *world) violations() []string {
	w.mu.Lock()
	wrong := slices.Clone(w.wrong)
	w.mu.Unlock()
	wrong = append(wrong, w.journal.early()...)
	for _, p := range w.allProcesses() {
		for _, s := range p.subjects {
			wrong = append(wrong, s.violations()...)
		}
		if p.holders != nil {
			wrong = append(wrong, p.holders.violations()...)
		}
	}
	return wrong
}

// allProcesses returns all processes, running and stopped.
func (w *world) allProcesses() []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(slices.Clone(w.retired), w.processes...)
}

// differences returns everything that does not match the server yet, or is still in flight.
func (w *world) differences() []string {
	var wrong []string
	server := w.current().Store()
	for _, p := range w.running() {
		for _, s := range p.subjects {
			wrong = append(wrong, s.differences(server, w.definition(s.plan().Resource))...)
		}
		if p.control != nil {
			shot := p.control.Snapshot()
			if len(shot.Active)+len(shot.Queue.Queued)+len(shot.Queue.Processing) > 0 {
				wrong = append(wrong, fmt.Sprintf("%s: in passes: %v, queued: %v, processing: %v", p.plan.Name,
					shot.Active, shot.Queue.Queued, shot.Queue.Processing))
			}
		}
	}
	if w.plan.AllControllers {
		wrong = append(wrong, w.controllersDiffer()...)
	}
	return wrong
}

// unfinished returns the deletions that have not ended, and what the controller still remembers of
// those that have.
func (w *world) unfinished() []string {
	var wrong []string
	for _, resource := range w.written() {
		w.each(resource, func(o *store.Object) {
			if o.Deleting {
				wrong = append(wrong, fmt.Sprintf("%s/%s is still being deleted: %s", resource, o.Key, o.Body()))
			}
		})
	}
	for _, p := range w.running() {
		if p.control == nil {
			continue
		}
		if delayed := p.control.Snapshot().Queue.Delayed; len(delayed) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d keys are delayed in the queue, and there is nothing left to do",
				p.plan.Name, len(delayed)))
		}
		if keys := p.holders.remembered(); len(keys) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the rate limiter remembers failures of %v", p.plan.Name, keys))
		}
	}
	return wrong
}

// releaseAll removes our finalizer from all objects, so that all deletions can end.
func (w *world) releaseAll() {
	for _, resource := range w.written() {
		w.each(resource, func(o *store.Object) { w.release(w.target(resource, o.Key.Namespace, o.Key.Name)) })
	}
}

// written returns the resources that the steps of a plan write.
func (w *world) written() []string {
	resources := []string{"configmaps", "pods", "widgets", "namespaces"}
	if w.plan.AllControllers {
		resources = append(resources, "deployments", "replicasets")
		if _, ok := w.current().Catalog().Lookup(virtualmachine.Resource); ok {
			resources = append(resources, "virtualmachines")
		}
	}
	return resources
}

func (w *world) each(resource string, do func(*store.Object)) {
	page, err := w.registry().List(w.target(resource, "", ""), api.ListOptions{})
	if err != nil {
		w.fail("listing %s: %v", resource, err)
		return
	}
	for _, o := range page.Items {
		do(o)
	}
}

// remains returns what stopped processes have left open.
func (w *world) remains() []string {
	wrong := w.violations()
	for _, p := range w.allProcesses() {
		if open := p.link.Snapshot().Open; open > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d connections are open", p.plan.Name, open))
		}
		if shot := p.client.Snapshot(); shot.InFlight != 0 || shot.Watches != 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the client counts %d requests and %d watches", p.plan.Name,
				shot.InFlight, shot.Watches))
		}
	}
	if shot := w.current().Snapshot(); shot.InFlight != 0 || shot.Watches != 0 {
		wrong = append(wrong, fmt.Sprintf("the server counts %d requests and %d watches", shot.InFlight, shot.Watches))
	}
	return wrong
}

// journal is the history of the server: every write, in the order of versions.
type journal struct {
	mu       sync.Mutex // guards all of it
	objects  map[string]*life
	finals   []finalization
	versions map[uint64]string // version -> UID of the written object
}

// life is the life of an object.
type life struct {
	prefix     string
	key        store.Key
	born, died uint64 // versions; died is 0 while the object lives
}

// finalization is the moment when a namespace lost the controller's finalizer.
type finalization struct {
	namespace string
	uid       string
	version   uint64
}

func newJournal() *journal {
	return &journal{objects: map[string]*life{}, versions: map[uint64]string{}}
}

// committed records a write. It is a hook of the store.
func (j *journal) committed(prefix string, e store.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o := e.Object
	j.versions[e.Version()] = o.UID
	one := j.objects[o.UID]
	if one == nil {
		one = &life{prefix: prefix, key: o.Key}
		j.objects[o.UID] = one
	}
	// Hooks of two writes may come in either order.
	switch {
	case e.Type == api.WatchAdded:
		one.born = e.Version()
	case e.Type == api.WatchDeleted:
		one.died = e.Version()
	}
	if strings.HasSuffix(prefix, "/namespaces") && e.Previous != nil && holds(e.Previous, api.FinalizerKubernetes) &&
		(e.Type == api.WatchDeleted || !holds(o, api.FinalizerKubernetes)) {
		j.finals = append(j.finals, finalization{o.Key.Name, o.UID, e.Version()})
	}
}

// wrote reports whether the server ever gave this version to the object with this UID.
func (j *journal) wrote(uid string, version uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.versions[version] == uid
}

// early returns the namespaces that lost the controller's finalizer while they had content. All
// writes are ordered, and nothing can be created in a namespace that is being deleted, so this is
// exact even afterwards.
func (j *journal) early() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var wrong []string
	for _, f := range j.finals {
		for uid, one := range j.objects {
			if one.key.Namespace != f.namespace || one.born > f.version || one.died != 0 && one.died < f.version {
				continue
			}
			wrong = append(wrong,
				fmt.Sprintf("namespace %s (%s) was finalized at version %d, when it still held %s%s (%s), created "+
					"at %d, gone at %d",
					f.namespace, f.uid, f.version, one.prefix, "/"+one.key.String(), uid, one.born, one.died))
		}
	}
	slices.Sort(wrong)
	return wrong
}

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
			if _, ok := w.current().Catalog().Lookup(d.Resource()); ok { // not just removed
				w.fail("listing %s: %v", d.Plural, err)
			}
			continue
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

// leftBehind returns what is left in the bubble: goroutines other than the caller's, and timers
// that call a function.
func leftBehind() []string {
	synctest.Wait()
	wrong := goroutinesLeft()
	if timers := timersLeft(); timers > 0 {
		wrong = append(wrong, fmt.Sprintf("%d timers rang in the hour after the end", timers))
	}
	return wrong
}

var bubbleOf = regexp.MustCompile(`^goroutine \d+ .*(synctest bubble \d+)`)

// goroutinesLeft returns the stacks of all goroutines of the bubble, except the caller and the
// goroutine that waits for the bubble.
func goroutinesLeft() []string {
	own := make([]byte, 1<<10)
	own = own[:runtime.Stack(own, false)]
	bubble := bubbleOf.FindSubmatch(own)
	if bubble == nil {
		return []string{"this is no bubble: " + string(own)}
	}
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	var wrong []string
	for i, stack := range bytes.Split(all, []byte("\n\n")) {
		of := bubbleOf.FindSubmatch(stack)
		if i == 0 || of == nil || !bytes.Equal(of[1], bubble[1]) ||
			bytes.Contains(stack, []byte("\ntesting/synctest.Test")) {
			continue
		}
		wrong = append(wrong, "a goroutine is left: "+strings.TrimSpace(string(stack)))
	}
	return wrong
}

// timersLeft lets an hour pass and returns the number of timer functions (time.AfterFunc) called,
// each in a new goroutine; nothing else can start one. It sees no timer that only sends on its
// channel. The first minutes do not count, because net/http leaves a ping timer on each HTTP/2
// connection, which fires once or twice more to no effect.
func timersLeft() int {
	time.Sleep(httpLinger)
	runtime.GC() // starts the garbage collector's own goroutines
	before := goroutinesCreated()
	time.Sleep(time.Hour)
	return int(goroutinesCreated() - before)
}

const httpLinger = 2 * time.Minute

func goroutinesCreated() uint64 {
	samples := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64()
}
