package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/examples/apps"
	"orrery/examples/secondparty"
	"orrery/examples/virtualmachine"
	"orrery/informer"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// world is a run: the server, the network, and the processes.
type world struct {
	// Immutable.
	plan     Plan
	sabotage sabotage
	journal  *journal
	network  *network
	outside  *outside // nil unless all controllers run

	quiet atomic.Bool    // no fault is active
	under sync.WaitGroup // background work of steps

	mu         sync.Mutex // guards the fields below
	server     *apiserver.Server
	listening  *restclienttest.Listener // nil while the server is down
	restarting bool
	serving    sync.WaitGroup
	processes  []*process
	retired    []*process // processes that were replaced
	wrong      []string
}

// newWorld starts a server with the resources of a run.
func newWorld(p Plan, s sabotage) (*world, error) {
	w := &world{plan: p, sabotage: s, journal: newJournal(), network: &network{}}
	if p.AllControllers {
		w.outside = newOutside()
	}
	if err := w.startServer(nil); err != nil {
		return nil, err
	}
	definition := &api.Unstructured{}
	if err := json.Unmarshal([]byte(widgets), &definition.Object); err != nil {
		return nil, err
	}
	if _, err := w.registry().Create(context.Background(), w.target(customResources, "", ""), definition,
		writer); err != nil {
		return nil, err
	}
	for i := range namespaceCount {
		w.perform(Step{What: CreateNamespace, On: fmt.Sprintf("namespaces//n%d", i)})
	}
	return w, nil
}

// widgets is the definition of a namespaced custom type.
const widgets = `{"metadata":{"name":"widgets.example.org"},"spec":{"group":"example.org","scope":"Namespaced",
	"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
		{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

const customResources = "customresourcedefinitions"

// writer writes directly to the server, like another client, unaffected by link faults.
var writer = registry.WriteOptions{User: "writer"}

var resourcesOf = map[string]api.GroupVersionResource{
	"namespaces":      api.NamespacesResource,
	"pods":            api.PodsResource,
	"configmaps":      {Version: "v1", Resource: "configmaps"},
	"widgets":         {Group: "example.org", Version: "v1", Resource: "widgets"},
	"deployments":     apps.DeploymentsResource,
	"replicasets":     apps.ReplicaSetsResource,
	"virtualmachines": virtualmachine.Resource,
	customResources:   {Group: "apiextensions.k8s.io", Version: "v1", Resource: customResources},
}

func (w *world) resource(name string) api.GroupVersionResource { return resourcesOf[name] }

// startServer starts the first server or a replacement.
func (w *world) startServer(before *apiserver.Server) error {
	server, err := apiserver.New(apiserver.Config{
		TLS: w.plan.TLS, Unprotected: true, Window: w.plan.Window, Predecessor: before,
		Committed: w.journal.committed, NoCollector: w.plan.AllControllers, Trace: w.outside.trace(),
	})
	if err != nil {
		return err
	}
	l := w.network.listen()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server, w.listening = server, l
	w.serving.Go(func() { server.Serve(l) })
	return nil
}

// restart stops the server in the way that the step says, and starts a replacement. It does nothing
// while the server is down.
func (w *world) restart(s Step) {
	w.mu.Lock()
	server, l, already := w.server, w.listening, w.restarting
	w.restarting = true
	w.mu.Unlock()
	if already {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), gentleStop)
	defer cancel()
	if s.Text != "gently" {
		l.Kill()
		cancel()
	}
	server.Stop(ctx) // the error says that it did not wait for clients
	l.Kill()
	time.Sleep(s.For)
	if s.Text == "killed, history lost" {
		server.Store().Compact()
	}
	if err := w.startServer(server); err != nil {
		w.fail("the server could not be started again: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.restarting = false
}

const gentleStop = 3 * time.Second

// current returns the running server, or the last one. Its store stays readable and writable, as if
// other servers shared its etcd.
func (w *world) current() *apiserver.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.server
}

func (w *world) registry() *registry.Registry { return w.current().Registry() }

func (w *world) definition(resource string) *resources.Definition {
	definition, ok := w.current().Catalog().Lookup(w.resource(resource))
	if !ok {
		panic("chaos: the server does not know " + resource)
	}
	return definition
}

func (w *world) target(resource, namespace, name string) registry.Target {
	return registry.Target{Definition: w.definition(resource), Namespace: namespace, Name: name}
}

// scheme returns the URL scheme of the server.
func (w *world) scheme() string {
	if w.plan.TLS {
		return "https"
	}
	return "http"
}

// fail records an error that can never be corrected.
func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// network connects the links with the server: dialing reaches the current listener.
type network struct {
	mu       sync.Mutex               // guards listener
	listener *restclienttest.Listener // nil if the server is down
}

// dial connects to the server and ignores the address.
func (n *network) dial(ctx context.Context, kind, _ string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listener
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: kind, Err: syscall.ECONNREFUSED}
	}
	return l.Dial(ctx, kind)
}

// listen returns a new listener, to which later calls of dial connect.
func (n *network) listen() *restclienttest.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listener = restclienttest.NewListener()
	return n.listener
}

// perform carries out a step. Work that takes time continues in the background.
func (w *world) perform(s Step) {
	switch s.What {
	case Put, Delete, Recreate, Release, CreateNamespace, DeleteNamespace:
		w.write(s)
	case Fault:
		if _, err := w.current().Faults().Add(s.Text); err != nil {
			w.fail("%v", err) // the plan is wrong
		}
	case Restart:
		w.under.Go(func() { w.restart(s) })
	case Reborn:
		w.under.Go(func() { w.reborn(s) })
	case Join, Leave:
		w.changeHandlers(s)
	default:
		for _, p := range w.running() {
			if p.plan.Name == s.On {
				w.breakLink(p.link, s)
			}
		}
	}
}

// running returns the current processes.
func (w *world) running() []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.processes)
}

// reborn ends a process and starts one like it.
func (w *world) reborn(s Step) {
	for i, p := range w.running() {
		if p.plan.Name != s.On || p.ending.Swap(true) {
			continue
		}
		if s.Text == "killed" { // nothing that it sends arrives
			p.link.Refuse(true)
			p.link.Cut()
			if p.managed != nil {
				p.managed.kill()
			}
		}
		p.stop()
		time.Sleep(s.For)
		next, err := newProcess(w, p.plan)
		if err != nil {
			w.fail("%s could not be started again: %v", s.On, err)
			return
		}
		next.start()
		w.mu.Lock()
		w.processes[i], w.retired = next, append(w.retired, p)
		w.mu.Unlock()
	}
}

// breakLink applies a step to a link.
func (w *world) breakLink(l *Link, s Step) {
	switch s.What {
	case Cut:
		l.Cut()
	case HalfClose:
		l.HalfClose()
	case LinkHealed:
		setFault(l, Action(s.Text), false, 0)
	default:
		setFault(l, s.What, true, s.N)
	}
}

// setFault begins or ends one fault of a link. Other faults that began since then continue. The
// meaning of n depends on the fault; 0 ends it.
func setFault(l *Link, what Action, on bool, n int) {
	switch what {
	case BlackHole:
		directions := [][]Direction{nil, {Sent}, {Received}}[n]
		l.BlackHole(on, directions...)
	case Stall:
		l.Stall(on)
	case Refuse:
		l.Refuse(on)
	case Slow:
		l.Delay(time.Duration(n) * time.Millisecond)
	case CutAfter:
		if !on {
			n = -1
		}
		l.CutAfter(int64(n))
	}
}

// changeHandlers lets a handler join an informer, or leave it.
func (w *world) changeHandlers(s Step) {
	for _, p := range w.running() {
		one := p.subjectNamed(s.On)
		if one == nil {
			continue
		}
		var err error
		if s.What == Join {
			err = one.join(drawHandler(diceOf(w.plan.Seed, "late handler", s.On, s.At.String())))
		} else {
			err = one.leave(s.N)
		}
		if err != nil && !errors.Is(err, informer.ErrStopped) {
			w.fail("%s %s: %v", s.What, s.On, err)
		}
	}
}

// hold is a finalizer that delays the deletion of objects for a while.
const hold = "chaos.orrery/hold"

// write applies a step to an object. Writes that the server refuses are skipped; the journal has
// the result.
func (w *world) write(s Step) {
	ctx := context.Background()
	parts := strings.Split(s.On, "/") // resource/namespace/name
	if parts[0] == builds {
		w.store(parts[1], parts[2])
		return
	}
	if _, ok := w.current().Catalog().Lookup(w.resource(parts[0])); !ok {
		return // a custom resource whose type does not exist now
	}
	t := w.target(parts[0], parts[1], parts[2])
	r := w.registry()
	switch s.What {
	case Put, CreateNamespace:
		if _, err := r.Get(t, api.GetOptions{}); err == nil {
			w.change(t, s)
			return
		}
		_, _ = r.Create(ctx, t, w.newObject(parts, s), writer)
	case Delete, DeleteNamespace:
		_, _, _ = r.Delete(ctx, t, api.DeleteOptions{PropagationPolicy: api.DeletePropagation(s.Text)}, writer)
	case Recreate:
		now := int64(0)
		_, _, _ = r.Delete(ctx, t, api.DeleteOptions{GracePeriodSeconds: &now}, writer)
		_, _ = r.Create(ctx, t, w.newObject(parts, s), writer)
	case Release:
		w.release(t)
	}
}

// change writes a new state of an existing object.
func (w *world) change(t registry.Target, s Step) {
	_, _ = w.registry().Patch(context.Background(), t, func(current *api.Unstructured) (*api.Unstructured, error) {
		w.shape(current, t.Definition.Plural, s)
		return current, decorate(current, s)
	}, writer)
}

// release removes our finalizer from the object.
func (w *world) release(t registry.Target) {
	ctx := context.Background()
	_, _ = w.registry().Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		return current, current.SetNested(withoutHold(current.GetFinalizers()), "metadata", "finalizers")
	}, writer)
	if t.Definition.Plural != "namespaces" {
		return
	}
	current, err := w.registry().Get(t, api.GetOptions{})
	if err != nil {
		return
	}
	namespace := current.Decode()
	finalizers := namespace.NestedStringSlice("spec", "finalizers")
	if !slices.Contains(finalizers, hold) || namespace.SetNested(withoutHold(finalizers), "spec", "finalizers") != nil {
		return
	}
	t.Subresource = "finalize"
	_, _ = w.registry().Update(ctx, t, namespace, writer)
}

func withoutHold(finalizers []string) []any {
	left := []any{}
	for _, finalizer := range finalizers {
		if finalizer != hold {
			left = append(left, finalizer)
		}
	}
	return left
}

// newObject makes an object of resource, namespace and name.
func (w *world) newObject(parts []string, s Step) *api.Unstructured {
	if parts[0] == customResources {
		return machineDefinition()
	}
	metadata := map[string]any{"name": parts[2]}
	o := &api.Unstructured{Object: map[string]any{"metadata": metadata}}
	if parts[1] != "" {
		metadata["namespace"] = parts[1]
	}
	switch s.Text {
	case "held":
		metadata["finalizers"] = []any{hold}
	case "held-in-spec":
		_ = o.SetNested([]any{hold}, "spec", "finalizers") // there is no spec yet
	case "second-party":
		_ = o.SetNested([]any{secondparty.Token}, "spec", "finalizers")
	}
	if parts[0] == "pods" {
		o.Object["spec"] = map[string]any{
			"terminationGracePeriodSeconds": int64(s.N % 40),
			"containers":                    []any{map[string]any{"name": "c", "image": "i"}},
		}
	}
	w.shape(o, parts[0], s)
	_ = decorate(o, s) // the maps are our own
	return o
}

// decorate applies a step's fields to an object and adds a unique value.
func decorate(o *api.Unstructured, s Step) error {
	labels := map[string]any{}
	for name, value := range o.GetLabels() {
		if name != "tier" {
			labels[name] = value
		}
	}
	labels["value"] = strconv.Itoa(s.N)
	if tier, found := strings.CutPrefix(s.Text, "tier="); found {
		labels["tier"] = tier
	}
	if s.Text == "large" {
		if err := o.SetNested(map[string]any{"filling": strings.Repeat("x", 3000)}, "metadata",
			"annotations"); err != nil {
			return err
		}
	}
	return o.SetNested(labels, "metadata", "labels")
}

func machineDefinition() *api.Unstructured {
	o := &api.Unstructured{}
	if err := yaml.Unmarshal(virtualmachine.CustomResourceDefinition, &o.Object); err != nil {
		panic(err)
	}
	return o
}

// shape applies a step's fields other than labels to an object.
func (w *world) shape(o *api.Unstructured, resource string, s Step) {
	containers := []any{map[string]any{"name": "c", "image": fmt.Sprint("i", s.N%3)}}
	pods := map[string]any{"app": resource + "-" + o.GetName()}
	template := map[string]any{"metadata": map[string]any{"labels": pods},
		"spec": map[string]any{"containers": containers}}
	spec := map[string]any{"replicas": int64(s.N % 4), "selector": map[string]any{"matchLabels": pods},
		"template": template}
	switch resource {
	case "deployments":
		if o.GetName() == "a0" {
			spec["strategy"] = map[string]any{"type": "Recreate"}
		}
		o.Object["spec"] = spec
	case "replicasets":
		o.Object["spec"] = spec
	case "virtualmachines":
		o.Object["spec"] = map[string]any{"resource": map[string]any{"cpu": int64(1 + s.N%4), "memory": "1G"}}
	}
	owner, ok := strings.CutPrefix(s.Text, "owner=")
	if !ok {
		return
	}
	kind, name, _ := strings.Cut(owner, "/")
	reference := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": "never-was",
		"blockOwnerDeletion": s.N%2 == 0}
	if kind == "widgets" {
		reference["apiVersion"], reference["kind"] = "example.org/v1", "Widget"
	}
	if found, err := w.registry().Get(w.target(kind, o.GetNamespace(), name), api.GetOptions{}); err == nil {
		reference["uid"] = found.UID
	}
	o.Object["metadata"].(map[string]any)["ownerReferences"] = []any{reference}
}
