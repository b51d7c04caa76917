package reflectortest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// Config configures the reflectors of the suite.
type Config = reflector.Config[*api.Namespace]

// Memory is a store that records its calls, and fails the test if two of them overlap.
type Memory struct {
	t    testing.TB
	busy sync.Mutex

	// OnCall, if not nil, is called with the name of each method; its error is returned by the
	// call.
	OnCall func(op string) error

	mu       sync.Mutex // guards all below
	content  map[string]*api.Namespace
	versions []string
	marks    []string
	resyncs  int
}

// NewMemory returns an empty store.
func NewMemory(t testing.TB) *Memory { return &Memory{t: t, content: map[string]*api.Namespace{}} }

func (m *Memory) call(op string, do func()) error {
	if !m.busy.TryLock() {
		m.t.Errorf("%s: two calls of the store at once", op)
		return nil
	}
	defer m.busy.Unlock()
	if m.OnCall != nil {
		if err := m.OnCall(op); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
	return nil
}

// callFor is call for an operation with an object.
func (m *Memory) callFor(op string, ns *api.Namespace, do func()) error {
	if ns == nil {
		m.t.Errorf("%s: want an object, got nil: a bookmark or an event of unknown type has none", op)
		return nil
	}
	return m.call(op, do)
}

// Add stores ns.
func (m *Memory) Add(ns *api.Namespace) error {
	return m.callFor("Add", ns, func() { m.content[ns.Name] = ns })
}

// Update stores ns.
func (m *Memory) Update(ns *api.Namespace) error {
	return m.callFor("Update", ns, func() { m.content[ns.Name] = ns })
}

// Delete removes ns.
func (m *Memory) Delete(ns *api.Namespace) error {
	return m.callFor("Delete", ns, func() { delete(m.content, ns.Name) })
}

// Replace makes items the content.
func (m *Memory) Replace(items []*api.Namespace, resourceVersion string) error {
	return m.call("Replace", func() {
		clear(m.content)
		for _, ns := range items {
			m.content[ns.Name] = ns
		}
		m.versions = append(m.versions, resourceVersion)
	})
}

// Resync counts the calls.
func (m *Memory) Resync() error { return m.call("Resync", func() { m.resyncs++ }) }

// Bookmark records the version.
func (m *Memory) Bookmark(resourceVersion string) {
	_ = m.call("Bookmark", func() { m.marks = append(m.marks, resourceVersion) })
}

// State returns the version of each object, by name.
func (m *Memory) State() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Versions(m.content)
}

// Replaced returns the versions of the calls of Replace.
func (m *Memory) Replaced() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.versions)
}

// Marks returns the versions of the calls of Bookmark.
func (m *Memory) Marks() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.marks)
}

// Resynced returns the number of resyncs.
func (m *Memory) Resynced() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.resyncs
}

// Versions returns the version of each object, by name.
func Versions(objects map[string]*api.Namespace) map[string]string {
	out := map[string]string{}
	for name, ns := range objects {
		out[name] = ns.ResourceVersion
	}
	return out
}

// Scripted is a ListerWatcher made of two functions.
type Scripted struct {
	OnList  func(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error)
	OnWatch func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error)
}

// List calls OnList.
func (s Scripted) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	return s.OnList(ctx, opts)
}

// Watch calls OnWatch.
func (s Scripted) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	return s.OnWatch(ctx, opts)
}

// ListOf returns a page at version rv, with the token of the next page.
func ListOf(rv, token string, items ...*api.Namespace) *api.List[*api.Namespace] {
	list := &api.List[*api.Namespace]{Items: items}
	list.ResourceVersion, list.Continue = rv, token
	return list
}

// NamespaceAt returns a namespace at a resource version.
func NamespaceAt(name, rv string) *api.Namespace {
	ns := informertest.Namespace(name)
	ns.ResourceVersion = rv
	return ns
}

// Event returns an event of a namespace at a resource version.
func Event(kind api.WatchEventType, name, rv string) api.WatchEvent[*api.Namespace] {
	return api.WatchEvent[*api.Namespace]{Type: kind, Object: NamespaceAt(name, rv), ResourceVersion: rv}
}
