package chaos

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orrery/examples/apps"
	"orrery/examples/virtualmachine"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/observe/trace"
	"orrery/restclient/api"
)

// world is a run: the server, the network, and the processes.
type world struct {
	// Immutable.
	plan     Plan
	sabotage sabotage
	journal  *journal
	network  *network
	outside  *outside        // nil unless all controllers run
	recorder *trace.Recorder // nil unless the run is recorded

	quiet atomic.Bool    // no fault is active
	under sync.WaitGroup // background work of steps

	mu           sync.Mutex // guards the fields below
	server       *apiserver.Server
	listening    *listener // nil while the server is down
	restarting   bool
	serving      sync.WaitGroup
	processes    []*process
	retired      []*process // processes that were replaced
	wrong        []string
	incarnations map[string]int // by name: what was recorded under it
}

// recordedAs returns the name under which the next informer or queue of this name is recorded: a
// process that was replaced is another one.
func (w *world) recordedAs(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.incarnations == nil {
		w.incarnations = map[string]int{}
	}
	w.incarnations[name]++
	return fmt.Sprintf("%s#%d", name, w.incarnations[name])
}

// newWorld starts a server with the resources of a run.
func newWorld(p Plan, s sabotage) (*world, error) {
	w := &world{plan: p, sabotage: s, journal: newJournal(), network: &network{}}
	var err error
	if w.recorder, err = startRecording(p); err != nil {
		return nil, err
	}
	if p.AllControllers {
		w.outside = newOutside()
	}
	if err := w.startServer(nil); err != nil {
		return nil, err
	}
	definition := &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "widgets.example.org"},
		"spec": map[string]any{
			"group": "example.org", "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget",
				"listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object",
					"x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	if _, err := w.registry().Create(context.Background(), w.target(customResources, "", ""), definition,
		writer); err != nil {
		return nil, err
	}
	for i := range namespaceCount {
		w.perform(Step{What: CreateNamespace, On: fmt.Sprintf("namespaces//n%d", i)})
	}
	return w, nil
}

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
		l.kill()
		cancel()
	}
	server.Stop(ctx) // the error says that it did not wait for clients
	l.kill()
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
