package machine_test

import (
	"context"
	"sync"
	"testing"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

// memory is a store for tests. The Reflector never makes two calls at once, which busy checks.
type memory struct {
	t    testing.TB
	busy sync.Mutex

	mu       sync.Mutex
	content  map[string]*api.Namespace
	versions []string // of Replace
	resyncs  int
	onCall   func(op string) error
}

func newMemory(t testing.TB) *memory { return &memory{t: t, content: map[string]*api.Namespace{}} }

func (m *memory) call(op string, do func()) error {
	if !m.busy.TryLock() {
		m.t.Error("two calls of the store at once")
		return nil
	}
	defer m.busy.Unlock()
	if m.onCall != nil {
		if err := m.onCall(op); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
	return nil
}

func (m *memory) Add(ns *api.Namespace) error {
	return m.call("Add", func() { m.content[ns.Name] = ns })
}

func (m *memory) Update(ns *api.Namespace) error {
	return m.call("Update", func() { m.content[ns.Name] = ns })
}

func (m *memory) Delete(ns *api.Namespace) error {
	return m.call("Delete", func() { delete(m.content, ns.Name) })
}

func (m *memory) Replace(items []*api.Namespace, rv string) error {
	return m.call("Replace", func() {
		clear(m.content)
		for _, ns := range items {
			m.content[ns.Name] = ns
		}
		m.versions = append(m.versions, rv)
	})
}

func (m *memory) Resync() error { return m.call("Resync", func() { m.resyncs++ }) }

func (m *memory) resynced() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.resyncs
}

// state returns name -> resourceVersion.
func (m *memory) state() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return versions(m.content)
}

func versions(objects map[string]*api.Namespace) map[string]string {
	out := map[string]string{}
	for name, ns := range objects {
		out[name] = ns.ResourceVersion
	}
	return out
}

func nameOf(ns *api.Namespace) (string, error) { return ns.Name, nil }

// fixture is a Reflector between a fake source and a store in memory.
type fixture struct {
	source *informertest.FakeSource[*api.Namespace]
	store  *memory
	config reflector.Config[*api.Namespace]
	*machine.Reflector[*api.Namespace]
}

func newFixture(t testing.TB) *fixture {
	f := &fixture{source: informertest.NewNamespaceSource(), store: newMemory(t)}
	f.config = reflector.Config[*api.Namespace]{Name: "namespaces", ListerWatcher: f.source, Store: f.store, DisableWatchList: true}
	return f
}

// run starts the Reflector. stop ends it and waits for its end.
func (f *fixture) run() (stop func()) {
	f.Reflector = machine.New(f.config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (f *fixture) requests(verb string) []informertest.Request {
	var out []informertest.Request
	for _, r := range f.source.Requests() {
		if r.Verb == verb {
			out = append(out, r)
		}
	}
	return out
}

// scripted is a lister-watcher made of two functions.
type scripted struct {
	list  func(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error)
	watch func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error)
}

func (s scripted) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	return s.list(ctx, opts)
}

func (s scripted) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	return s.watch(ctx, opts)
}

func listOf(rv, token string, items ...*api.Namespace) *api.List[*api.Namespace] {
	list := &api.List[*api.Namespace]{Items: items}
	list.ResourceVersion, list.Continue = rv, token
	return list
}
