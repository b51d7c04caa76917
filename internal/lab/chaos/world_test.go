package chaos

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// world is a run: the server, what lies between, and the processes.
type world struct {
	// Immutable.
	plan     Plan
	sabotage sabotage
	journal  *journal
	network  *network

	quiet atomic.Bool    // nothing is broken at the moment
	under sync.WaitGroup // what was begun by steps and takes time

	mu         sync.Mutex // guards all below
	server     *apiserver.Server
	listening  *listener // nil while the server is down
	restarting bool
	serving    sync.WaitGroup
	processes  []*process
	retired    []*process // those that others have taken the place of
	wrong      []string
}

// newWorld starts a server with the resources of a run.
func newWorld(p Plan, s sabotage) (*world, error) {
	w := &world{plan: p, sabotage: s, journal: newJournal(), network: &network{}}
	if err := w.startServer(nil); err != nil {
		return nil, err
	}
	definition := &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "widgets.example.org"},
		"spec": map[string]any{
			"group": "example.org", "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
	if _, err := w.registry().Create(context.Background(), w.target(customResources, "", ""), definition, writer); err != nil {
		return nil, err
	}
	for i := range namespaceCount {
		w.perform(Step{What: CreateNamespace, On: fmt.Sprintf("namespaces//n%d", i)})
	}
	return w, nil
}

const customResources = "customresourcedefinitions"

// writer is who writes, whatever happens to the links: somebody else, next to the server.
var writer = registry.WriteOptions{User: "writer"}

var resourcesOf = map[string]api.GroupVersionResource{
	"namespaces":    api.NamespacesResource,
	"pods":          api.PodsResource,
	"configmaps":    {Version: "v1", Resource: "configmaps"},
	"widgets":       {Group: "example.org", Version: "v1", Resource: "widgets"},
	customResources: {Group: "apiextensions.k8s.io", Version: "v1", Resource: customResources},
}

func (w *world) resource(name string) api.GroupVersionResource { return resourcesOf[name] }

// startServer starts the first server, or one that takes the place of another.
func (w *world) startServer(before *apiserver.Server) error {
	server, err := apiserver.New(apiserver.Config{
		TLS: w.plan.TLS, Unprotected: true, Window: w.plan.Window, Predecessor: before,
		StoreTrace: &store.Trace{Committed: w.journal.committed},
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

// restart stops the server in the way that the step says, and starts one that takes its place. A restart that comes while
// the server is down is none.
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
	server.Stop(ctx) // the error says that clients were not waited for
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

// current is the server that runs, or the one that ran last: what it stores can be read and written all the time, as there are other
// servers over the same etcd in a cluster.
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
	return registry.Target{
		Definition: w.definition(resource), Version: w.resource(resource).Version, Namespace: namespace, Name: name,
	}
}

// scheme is how the server is spoken to.
func (w *world) scheme() string {
	if w.plan.TLS {
		return "https"
	}
	return "http"
}

// fail notes something that can never be right again.
func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}
