// Package reflectortest tests the behaviour of a reflector, in every form.
//
// [Run] creates reflectors over an informertest.FakeSource and a [Memory] store, makes things
// happen, and asserts the calls of the store and the requests to the server:
//
//	reflectortest.Run(t, reflectortest.Implementation{
//		New: func(cfg reflectortest.Config) reflectortest.Reflector { return myReflector(cfg) },
//	})
//
// Each case runs in a synctest bubble and fails if the reflector leaves a goroutine behind. What
// only the machine does is in its own tests.
package reflectortest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// Implementation is a form of the reflector under test.
type Implementation struct {
	New func(Config) Reflector
}

// Reflector is a reflector of either form.
type Reflector interface {
	// Run reflects until ctx ends. When it returns, the store is not called. It may be called again.
	Run(ctx context.Context)
	Snapshot() reflector.Snapshot
	// LastSyncResourceVersion returns the version that the store has reached by the last list,
	// event or bookmark; "" before the first list.
	LastSyncResourceVersion() string
}

// Run runs the suite against impl.
func Run(t *testing.T, impl Implementation) {
	for _, group := range []struct {
		name  string
		cases []suiteCase
	}{
		{"List", listCases}, {"Watch", watchCases}, {"Failures", failureCases}, {"Resync", resyncCases},
		{"Lifecycle", lifecycleCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						f := newFixture(t, impl)
						f.listsOnly = group.name == "List"
						c.run(f)
					})
				})
			}
		})
	}
	t.Run("Locks", func(t *testing.T) { testLocks(t, impl) })
}

// suiteCase is one behaviour.
type suiteCase struct {
	name string
	run  func(f *fixture)
}

// fixture is a reflector between a fake source and a store in memory.
type fixture struct {
	*testing.T
	impl   Implementation
	source *informertest.FakeSource[*api.Namespace]
	store  *Memory
	config Config
	errors []error // passed to the error handler
	// listsOnly: watches are requested, and never answered.
	listsOnly bool
	panicked  chan string // the reason, if Run panicked

	Reflector // after start
}

func newFixture(t *testing.T, impl Implementation) *fixture {
	f := &fixture{T: t, impl: impl, source: informertest.NewNamespaceSource(), store: NewMemory(t),
		panicked: make(chan string, 1)}
	f.config = Config{
		Name: "namespaces", ListerWatcher: f.source, Store: f.store, DisableWatchList: true,
		KeyFunc: func(ns *api.Namespace) (string, error) { return ns.Name, nil },
		Backoff: reflector.BackoffConfig{Jitter: -1},
		// One goroutine at a time calls the handler; errors is read only while everything is
		// blocked.
		WatchErrorHandler: func(_ context.Context, err error) { f.errors = append(f.errors, err) },
	}
	return f
}

// start makes a reflector and runs it until stop, or the end of the case.
func (f *fixture) start() (stop func()) {
	config := f.config
	config.ListerWatcher = &patientSource{ListerWatcher: config.ListerWatcher, t: f.T, listsOnly: f.listsOnly}
	f.Reflector = f.impl.New(config)
	return f.again()
}

// again runs the same reflector.
func (f *fixture) again() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if reason := recover(); reason != nil {
				f.panicked <- fmt.Sprintf("%v\n\n%s", reason, debug.Stack())
			}
		}()
		f.Reflector.Run(ctx)
	}()
	stop = func() {
		cancel()
		select {
		case <-done:
			f.panicAsRun()
		case <-time.After(time.Hour): // of the bubble
			f.Errorf("want Run to return when its context ends, but it goes on")
		}
	}
	f.Cleanup(stop)
	synctest.Wait()
	f.panicAsRun()
	return stop
}

// panicAsRun panics if Run has. On the goroutine of the case, a panic is reported with its name.
func (f *fixture) panicAsRun() {
	select {
	case reason := <-f.panicked:
		panic(reason)
	default:
	}
}

// pass advances the time by d.
func (f *fixture) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	f.panicAsRun()
}

// requests returns the "list" or "watch" requests.
func (f *fixture) requests(verb string) (asked []informertest.Request) {
	for _, r := range f.source.Requests() {
		if r.Verb == verb {
			asked = append(asked, r)
		}
	}
	return asked
}

// asked returns the versions of the "list" or "watch" requests.
func (f *fixture) asked(verb string) (versions []string) {
	for _, r := range f.requests(verb) {
		versions = append(versions, r.Options.ResourceVersion)
	}
	return versions
}

// failNext makes the next call of each of these methods of the store fail.
func (f *fixture) failNext(ops ...string) {
	f.store.OnCall = func(op string) error {
		if i := slices.Index(ops, op); i >= 0 {
			ops = slices.Delete(ops, i, i+1)
			return errors.New("the store refuses")
		}
		return nil
	}
}

func (f *fixture) add(name string) *api.Namespace { return f.source.Add(informertest.Namespace(name)) }

// scripted makes list answer the list requests, and the source all watches.
func (f *fixture) scripted(list func(opts api.ListOptions) (*api.List[*api.Namespace], error)) {
	f.config.ListerWatcher = Scripted{
		OnList: func(_ context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) { return list(opts) },
		OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
			return f.source.Watch(ctx, opts)
		},
	}
}

// pages makes list requests get these pages, by their tokens.
func (f *fixture) pages(pages map[string]*api.List[*api.Namespace]) {
	f.scripted(func(opts api.ListOptions) (*api.List[*api.Namespace], error) { return pages[opts.Continue], nil })
}

// patientSource fails the test and ends the calling goroutine after many requests at one moment: in
// a busy loop of the reflector, the time of the bubble stands still, and the case would never end.
type patientSource struct {
	reflector.ListerWatcher[*api.Namespace]
	t         *testing.T
	listsOnly bool
	at        time.Time
	requests  int
}

// List implements reflector.ListerWatcher.
func (s *patientSource) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	s.admit("list")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s.ListerWatcher.List(ctx, opts)
}

// Watch implements reflector.ListerWatcher.
func (s *patientSource) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	s.admit("watch")
	w, err := s.ListerWatcher.Watch(ctx, opts)
	if s.listsOnly {
		<-ctx.Done()
		if err == nil {
			w.Stop()
		}
		return nil, ctx.Err()
	}
	if err != nil && ctx.Err() != nil {
		err = aborted{err}
	}
	return w, err
}

// aborted is the error of a request whose context has ended. The project's client reports it as a
// server that could not be reached.
type aborted struct{ error }

// Unreachable implements the method that a reflector asks errors for.
func (aborted) Unreachable() bool { return true }

// Unwrap returns the error of the context.
func (e aborted) Unwrap() error { return e.error }

// admit counts a request.
func (s *patientSource) admit(verb string) {
	const tooMany = 1000
	if now := time.Now(); !now.Equal(s.at) {
		s.at, s.requests = now, 0
	}
	if s.requests++; s.requests >= tooMany {
		s.t.Errorf("want a back-off between requests, got %d requests at the same moment, the last a %s",
			s.requests, verb)
		runtime.Goexit()
	}
}

// ChannelWatcher delivers the events sent on Events, until Ctx ends.
type ChannelWatcher struct {
	Ctx    context.Context
	Events chan api.WatchEvent[*api.Namespace]
}

// Next implements api.Watcher.
func (w *ChannelWatcher) Next() (api.WatchEvent[*api.Namespace], error) {
	select {
	case event := <-w.Events:
		return event, nil
	case <-w.Ctx.Done():
		return api.WatchEvent[*api.Namespace]{}, w.Ctx.Err()
	}
}

// Stop implements api.Watcher.
func (w *ChannelWatcher) Stop() {}

// Config configures the reflectors of the suite.
type Config = reflector.Config[*api.Namespace]

// Memory is a store that records its calls, and fails the test if two of them overlap.
type Memory struct {
	t    testing.TB
	busy sync.Mutex

	// OnCall, if not nil, is called with the name of each method; its error is returned by the
	// call.
	OnCall func(op string) error
	// Record, if not nil, is called with each method, its arguments as text, and the error of OnCall.
	Record func(op, arguments string, err error)

	// Read these only while everything is blocked.
	Replaced []string // the versions of the calls of Replace
	Marks    []string // the versions of the calls of Bookmark
	Resynced int      // the number of resyncs

	mu      sync.Mutex // guards the field below
	content map[string]*api.Namespace
}

// NewMemory returns an empty store.
func NewMemory(t testing.TB) *Memory { return &Memory{t: t, content: map[string]*api.Namespace{}} }

func (m *Memory) call(op string, arguments func() string, do func()) (err error) {
	if !m.busy.TryLock() {
		m.t.Errorf("%s: two calls of the store at once", op)
		return nil
	}
	defer m.busy.Unlock()
	if m.OnCall != nil {
		err = m.OnCall(op)
	}
	if m.Record != nil {
		m.Record(op, arguments(), err)
	}
	if err != nil {
		return err
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
	return m.call(op, func() string { return ns.Name + "@" + ns.ResourceVersion }, do)
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
	return m.call("Replace", func() string { return fmt.Sprintf("%s at %q", namesOf(items), resourceVersion) }, func() {
		clear(m.content)
		for _, ns := range items {
			m.content[ns.Name] = ns
		}
		m.Replaced = append(m.Replaced, resourceVersion)
	})
}

// namesOf returns the names of the objects, or their number if they are many.
func namesOf(items []*api.Namespace) []string {
	if len(items) > 9 {
		return []string{fmt.Sprintf("%d objects", len(items))}
	}
	names := []string{}
	for _, ns := range items {
		names = append(names, ns.Name)
	}
	return names
}

func nothing() string { return "" }

// Resync counts the calls.
func (m *Memory) Resync() error { return m.call("Resync", nothing, func() { m.Resynced++ }) }

// Bookmark records the version.
func (m *Memory) Bookmark(rv string) {
	_ = m.call("Bookmark", func() string { return strconv.Quote(rv) }, func() { m.Marks = append(m.Marks, rv) })
}

// State returns the version of each object, by name.
func (m *Memory) State() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Versions(m.content)
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
