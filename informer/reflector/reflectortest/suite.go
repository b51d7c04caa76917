package reflectortest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// Implementation is a form of the reflector that is put to the suite.
type Implementation struct {
	New func(Config) Reflector
	// Lacks names what the form does not do, each with the reason.
	Lacks map[Capability]string
}

// Reflector is a reflector of either form.
type Reflector interface {
	// Run reflects until ctx ends. When it returns, the store is not called again. It may be called once.
	Run(ctx context.Context)
	Snapshot() reflector.Snapshot
	// LastSyncResourceVersion returns the version that the store has: that of the last list, event or bookmark; "" before the first
	// list.
	LastSyncResourceVersion() string
}

// Capability is something in which the forms differ on purpose.
type Capability string

// The capabilities.
const (
	// StreamingLists: the initial state can come as a stream (KEP-3157).
	StreamingLists Capability = "streaming lists"
	// IdleTimeouts: a watch on a connection that is dead without an error is replaced.
	IdleTimeouts Capability = "idle timeouts"
	// ListTimeouts: a list that is not answered is given up.
	ListTimeouts Capability = "list timeouts"
	// InternalErrorBudget: internal errors of the server do not lead to a list for a while.
	InternalErrorBudget Capability = "internal-error budget"
	// StaleEvents: what is not newer than the position is skipped.
	StaleEvents Capability = "stale events are skipped"
	// VerifiedPositions: after a silence the server is asked whether it has reached the position.
	VerifiedPositions Capability = "verified positions"
	// ResyncBeat: resyncs keep the multiples of their period, whatever else happens.
	ResyncBeat Capability = "the beat of resyncs"
	// Progress: a watch that ends at once after events that are no progress is not opened again at once.
	Progress Capability = "watches without progress"
	// UnorderedStart: the events that open a watch at "0" do not move the position.
	UnorderedStart Capability = "watches from version 0"
)

// Run puts a form to the suite.
func Run(t *testing.T, impl Implementation) {
	for _, group := range []struct {
		name  string
		cases []suiteCase
	}{
		{"List", listCases}, {"Watch", watchCases}, {"Failures", failureCases}, {"Resync", resyncCases}, {"Lifecycle", lifecycleCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					if reason, lacks := impl.Lacks[c.needs]; lacks {
						t.Skipf("without %s: %s", c.needs, reason)
					}
					synctest.Test(t, func(t *testing.T) { c.run(newFixture(t, impl)) })
				})
			}
		})
	}
	t.Run("Locks", func(t *testing.T) { testLocks(t, impl) })
}

// suiteCase is one behaviour.
type suiteCase struct {
	name  string
	needs Capability // "": every form does it
	run   func(f *fixture)
}

// fixture is a reflector between a fake source and a store in memory.
type fixture struct {
	*testing.T
	impl   Implementation
	source *informertest.FakeSource[*api.Namespace]
	store  *Memory
	config Config
	errors []error // that the error handler was given

	Reflector // after start
}

func newFixture(t *testing.T, impl Implementation) *fixture {
	f := &fixture{T: t, impl: impl, source: informertest.NewNamespaceSource(), store: NewMemory(t)}
	f.config = Config{
		Name: "namespaces", ListerWatcher: f.source, Store: f.store, DisableWatchList: true,
		KeyFunc: func(ns *api.Namespace) (string, error) { return ns.Name, nil },
		Backoff: reflector.BackoffConfig{Jitter: -1},
		// The handler is called by one goroutine at a time, and not read before everything rests.
		WatchErrorHandler: func(_ context.Context, err error) { f.errors = append(f.errors, err) },
	}
	return f
}

// start runs the reflector until stop, or the end of the case.
func (f *fixture) start() (stop func()) {
	f.Reflector = f.impl.New(f.config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Reflector.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	f.Cleanup(stop)
	synctest.Wait()
	return stop
}

// pass lets time pass.
func (f *fixture) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// requests returns what was asked by "list" or "watch".
func (f *fixture) requests(verb string) (asked []informertest.Request) {
	for _, r := range f.source.Requests() {
		if r.Verb == verb {
			asked = append(asked, r)
		}
	}
	return asked
}

// asked returns the versions that were asked for by "list" or "watch".
func (f *fixture) asked(verb string) (versions []string) {
	for _, r := range f.requests(verb) {
		versions = append(versions, r.Options.ResourceVersion)
	}
	return versions
}

func (f *fixture) add(name string) *api.Namespace { return f.source.Add(informertest.Namespace(name)) }

// scripted makes list answer the lists, and the source all watches.
func (f *fixture) scripted(list func(opts api.ListOptions) (*api.List[*api.Namespace], error)) {
	f.config.ListerWatcher = Scripted{
		OnList: func(_ context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) { return list(opts) },
		OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
			return f.source.Watch(ctx, opts)
		},
	}
}

// ChannelWatcher delivers what is sent on Events, until Ctx ends.
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
