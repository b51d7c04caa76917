package reflector_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
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
	*reflector.Reflector[*api.Namespace]
}

func newFixture(t testing.TB) *fixture {
	f := &fixture{source: informertest.NewNamespaceSource(), store: newMemory(t)}
	f.config = reflector.Config[*api.Namespace]{Name: "namespaces", ListerWatcher: f.source, Store: f.store, DisableWatchList: true}
	return f
}

// run starts the Reflector. stop ends it and waits for its end.
func (f *fixture) run() (stop func()) {
	f.Reflector = reflector.New(f.config)
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

// TestWatchTimeoutsAreDrawnByLot: between five and ten minutes, whole seconds, not all the same.
func TestWatchTimeoutsAreDrawnByLot(t *testing.T) {
	for _, test := range []struct {
		name       string
		min        time.Duration
		from, upto int64
	}{
		{"default", 0, 300, 600},
		{"raised", 10 * time.Minute, 600, 1200},
		{"for a demonstration", 10 * time.Second, 10, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.config.MinWatchTimeout = test.min
				f.config.IdleTimeout = -1
				stop := f.run()
				time.Sleep(50 * time.Duration(test.upto) * time.Second)
				synctest.Wait()
				stop()

				watches := f.requests("watch")
				require.GreaterOrEqual(t, len(watches), 49, "the server ends each watch after its time, and the next begins at once")
				different := map[int64]bool{}
				for _, w := range watches {
					assert.GreaterOrEqual(t, w.Options.TimeoutSeconds, test.from)
					assert.Less(t, w.Options.TimeoutSeconds, test.upto)
					assert.True(t, w.Options.AllowWatchBookmarks)
					different[w.Options.TimeoutSeconds] = true
				}
				assert.Greater(t, len(different), 3)
				assert.Len(t, f.requests("list"), 1, "a renewed watch needs no list")
			})
		})
	}
}

// TestStopsAtAnyMoment ends Run in each phase and holds that it returns without time passing, leaves no watch open
// and does not call the store again.
func TestStopsAtAnyMoment(t *testing.T) {
	for _, test := range []struct {
		name    string
		phase   reflector.Phase
		prepare func(f *fixture) (then func())
	}{
		{"listing", reflector.PhaseListing, func(f *fixture) func() {
			f.source.Hold()
			return nil
		}},
		{"opening a watch", reflector.PhaseOpeningWatch, func(f *fixture) func() {
			return func() { time.Sleep(2 * time.Second); f.source.Hold(); f.source.Cut(nil) }
		}},
		{"watching", reflector.PhaseWatching, func(*fixture) func() { return nil }},
		{"watching a dead connection", reflector.PhaseWatching, func(f *fixture) func() { return f.source.Silence }},
		{"backing off", reflector.PhaseBackingOff, func(f *fixture) func() {
			f.source.FailList(errors.New("no"))
			return nil
		}},
		{"opening a streaming list", reflector.PhaseOpeningStream, func(f *fixture) func() {
			f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
			f.source.Hold()
			return nil
		}},
		{"streaming", reflector.PhaseStreaming, func(f *fixture) func() {
			f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
			f.source.SetStreamingList(informertest.StreamingWithoutBookmark)
			return nil
		}},
		// Defect 8.5: the original sleeps through a cancellation here.
		{"backing off from a streaming list", reflector.PhaseBackingOff, func(f *fixture) func() {
			f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
			f.source.FailWatch(informertest.TooManyRequests(time.Hour))
			return nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.config.WatchErrorHandler = func(_ context.Context, err error) {
					assert.NotErrorIs(t, err, context.Canceled, "to be stopped is no failure")
				}
				f.source.Add(informertest.Namespace("a"))
				then := test.prepare(f)
				stop := f.run()
				synctest.Wait()
				if then != nil {
					then()
					synctest.Wait()
				}
				require.Equal(t, test.phase, f.Snapshot().Phase)
				before := time.Now()
				stop()
				assert.Zero(t, time.Since(before), "Run took its time")
				assert.Equal(t, reflector.PhaseStopped, f.Snapshot().Phase)
				assert.Zero(t, f.source.Watchers(), "a watch is left open")
			})
		})
	}
}

func TestRunWithAnEndedContext(t *testing.T) {
	f := newFixture(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := reflector.New(f.config)
	r.Run(ctx)
	assert.Equal(t, reflector.PhaseStopped, r.Snapshot().Phase)
	assert.Empty(t, f.store.versions)
	assert.PanicsWithValue(t, "reflector: Run was called twice", func() { r.Run(ctx) })
}

func TestShouldResyncIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		asked, wanted := 0, false
		var traced []error
		f.config.ResyncPeriod = time.Minute
		f.config.ShouldResync = func() bool { asked++; return wanted }
		f.config.Trace = &reflector.Trace{Resync: func(err error) { traced = append(traced, err) }}
		stop := f.run()
		time.Sleep(150 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, asked)
		assert.Zero(t, f.store.resyncs)
		wanted = true
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		assert.Equal(t, 3, asked)
		assert.Equal(t, 1, f.store.resyncs)
		assert.Equal(t, []error{nil}, traced)
	})
}

// TestResyncDoesNotDisturbAStream: events before and after a resync arrive on the same watch.
func TestResyncDoesNotDisturbAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.ResyncPeriod = time.Second
		stop := f.run()
		for range 60 {
			time.Sleep(900 * time.Millisecond)
			f.source.Add(informertest.Namespace("a"))
		}
		synctest.Wait()
		assert.Equal(t, 54, f.store.resyncs)
		assert.Len(t, f.requests("watch"), 1)
		stop()
	})
}

type noStreamingLists struct {
	*informertest.FakeSource[*api.Namespace]
}

func (noStreamingLists) IsWatchListSemanticsUnSupported() bool { return true }

func TestWhenStreamingListsAreNotTried(t *testing.T) {
	for name, change := range map[string]func(f *fixture){
		"switched off":          func(f *fixture) { f.config.DisableWatchList = true },
		"no key function":       func(f *fixture) { f.config.KeyFunc = nil },
		"the source declines":   func(f *fixture) { f.config.ListerWatcher = noStreamingLists{f.source} },
		"refused by the server": func(f *fixture) { f.source.SetStreamingList(informertest.StreamingRefused) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
				change(f)
				stop := f.run()
				synctest.Wait()
				assert.False(t, f.Snapshot().StreamingList)
				assert.Len(t, f.requests("list"), 1)
				stop()
			})
		})
	}
}

// TestCollectingSurvivesBadObjects: an object without a key is left out of a streaming list and told.
func TestCollectingSurvivesBadObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.DisableWatchList = false
		f.config.KeyFunc = func(ns *api.Namespace) (string, error) {
			if ns.Name == "bad" {
				return "", errors.New("no name for this")
			}
			return ns.Name, nil
		}
		var told []*reflector.StoreError
		f.config.Trace = &reflector.Trace{StoreFailed: func(err *reflector.StoreError) { told = append(told, err) }}
		f.source.Add(informertest.Namespace("a"))
		f.source.Add(informertest.Namespace("bad"))
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2"}, f.store.state())
		require.Len(t, told, 1)
		assert.Equal(t, reflector.OpKey, told[0].Op)
		assert.Equal(t, "3", told[0].ResourceVersion)
		assert.Equal(t, 1, f.Snapshot().StoreErrors)
		assert.Same(t, told[0], f.Snapshot().LastStoreError)
		stop()
	})
}

// TestStrangeEvents: a type that nobody knows goes nowhere but moves the position; an object without a version does not
// move it; neither ends the watch.
func TestStrangeEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var seen []api.WatchEventType
		f.config.Trace = &reflector.Trace{Event: func(kind api.WatchEventType, _ string) { seen = append(seen, kind) }}
		stop := f.run()
		synctest.Wait()
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: "EXPLODED", ResourceVersion: "77"})
		synctest.Wait()
		assert.Equal(t, "77", f.LastSyncResourceVersion())
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: informertest.Namespace("x")})
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchBookmark})
		synctest.Wait()
		assert.Equal(t, "77", f.LastSyncResourceVersion())
		assert.Contains(t, f.store.state(), "x")
		assert.Equal(t, []api.WatchEventType{"EXPLODED", api.WatchAdded}, seen)
		assert.Len(t, f.requests("watch"), 1)
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchError})
		synctest.Wait()
		assert.ErrorContains(t, f.Snapshot().LastError, "an ERROR event without a status")
		stop()
	})
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

// TestListsThatCannotBeUsed: without a version no watch can follow; with a token that does not lead on, the pages never end.
func TestListsThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct {
		name  string
		reply func(opts api.ListOptions) *api.List[*api.Namespace]
		want  error
		lists int
	}{
		{"no version", func(api.ListOptions) *api.List[*api.Namespace] { return listOf("", "") }, reflector.ErrNoResourceVersion, 1},
		{"the same token for ever", func(api.ListOptions) *api.List[*api.Namespace] { return listOf("5", "again") },
			reflector.ErrRepeatedContinue, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				lists := 0
				f.config.ListerWatcher = scripted{
					list: func(_ context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
						lists++
						return test.reply(opts), nil
					}}
				var failures []error
				f.config.WatchErrorHandler = func(_ context.Context, err error) { failures = append(failures, err) }
				stop := f.run()
				synctest.Wait()
				require.Len(t, failures, 1)
				var list *reflector.ListError
				assert.ErrorAs(t, failures[0], &list)
				assert.ErrorIs(t, failures[0], test.want)
				assert.Equal(t, test.lists, lists)
				assert.Empty(t, f.store.versions)
				stop()
			})
		})
	}
}

// TestTokenThatDoesNotLeadOnMeansTheWhole: a server that repeats a continue token in pages is asked for everything at once.
func TestTokenThatDoesNotLeadOnMeansTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var asked []api.ListOptions
		f.config.PageSize = 1
		f.config.ListerWatcher = scripted{
			list: func(_ context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
				asked = append(asked, opts)
				if opts.Limit > 0 {
					return listOf("5", "again", informertest.Namespace("a")), nil
				}
				return listOf("5", "", informertest.Namespace("a"), informertest.Namespace("b")), nil
			},
			watch: f.source.Watch,
		}
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, []api.ListOptions{
			{ResourceVersion: "0", Limit: 1}, {Limit: 1, Continue: "again"}, {ResourceVersion: "0"}}, asked)
		assert.Len(t, f.store.state(), 2)
		stop()
	})
}

// TestPositionAfterAListAtZero: a watch from version "0" opens with the present objects, in no order. Their versions
// are no position; the first real change gives one.
func TestPositionAfterAListAtZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.source.Add(informertest.Namespace("a"))
		f.source.Add(informertest.Namespace("b"))
		f.config.ListerWatcher = scripted{
			list: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
				return listOf("0", ""), nil
			},
			watch: f.source.Watch,
		}
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2", "b": "3"}, f.store.state())
		assert.Equal(t, "0", f.LastSyncResourceVersion())
		f.source.Modify(informertest.Namespace("a"))
		synctest.Wait()
		assert.Equal(t, "4", f.LastSyncResourceVersion())
		f.source.Add(informertest.Namespace("c"))
		synctest.Wait()
		assert.Equal(t, "5", f.LastSyncResourceVersion())
		stop()
	})
}

// TestHandlersMayLookInside: hooks, the error handler and the store may ask the Reflector for its state.
func TestHandlersMayLookInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var phases []reflector.Phase
		look := func() { phases = append(phases, f.Snapshot().Phase); f.LastSyncResourceVersion() }
		f.config.WatchErrorHandler = func(context.Context, error) { look() }
		f.config.Trace = &reflector.Trace{BackOff: func(time.Duration, error) { look() }}
		f.store.onCall = func(string) error { look(); return nil }
		f.source.FailList(io.ErrUnexpectedEOF)
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, []reflector.Phase{reflector.PhaseListing, reflector.PhaseListing}, phases, "the state before the step")
		waiting := f.Snapshot()
		assert.Equal(t, reflector.PhaseBackingOff, waiting.Phase)
		assert.Equal(t, 1, waiting.Failures)
		assert.Greater(t, time.Until(waiting.NextAttempt), 799*time.Millisecond)
		assert.LessOrEqual(t, time.Until(waiting.NextAttempt), 1600*time.Millisecond)
		time.Sleep(2 * time.Second)
		assert.Equal(t, "1", f.LastSyncResourceVersion())
		assert.Zero(t, f.Snapshot().NextAttempt)
		stop()
	})
}

// TestTheHandlerMayStopTheReflector: a program that gives up when it is forbidden to list cancels from its handler.
func TestTheHandlerMayStopTheReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.source.FailList(informertest.StatusError(403, api.ReasonForbidden, "no"))
		ctx, cancel := context.WithCancel(context.Background())
		f.config.WatchErrorHandler = func(_ context.Context, err error) {
			assert.True(t, api.IsForbidden(err))
			cancel()
		}
		reflector.New(f.config).Run(ctx)
		assert.Len(t, f.requests("list"), 1)
	})
}

func TestTraceTellsTheStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var phases []string
		var pages []reflector.PageInfo
		var lists []reflector.ListInfo
		var started []string
		var marks []string
		f.config.PageSize = 2
		f.config.Trace = &reflector.Trace{
			StateChanged: func(from, to reflector.Phase, on reflector.Input) {
				phases = append(phases, from.String()+" -"+on.String()+"-> "+to.String())
			},
			PageListed:   func(p reflector.PageInfo) { pages = append(pages, p) },
			Listed:       func(l reflector.ListInfo) { lists = append(lists, l) },
			WatchStarted: func(o api.ListOptions) { started = append(started, o.ResourceVersion) },
			Bookmark:     func(rv string, initial bool) { marks = append(marks, rv) },
		}
		f.source.SetPaging(true)
		f.source.SetLatency(time.Second)
		for _, name := range []string{"a", "b", "c"} {
			f.source.Add(informertest.Namespace(name))
		}
		stop := f.run()
		time.Sleep(5 * time.Second)
		f.source.SendBookmark()
		synctest.Wait()
		stop()
		assert.Equal(t, []string{
			"Idle -Start-> Listing", "Listing -PageListed-> Replacing", "Replacing -Replaced-> OpeningWatch", "OpeningWatch -Opened-> Watching",
			"Watching -Stop-> Stopped"}, phases)
		assert.Equal(t, []reflector.PageInfo{
			{ResourceVersion: "4", Page: 1, Items: 2, More: true}, {ResourceVersion: "4", Page: 2, Items: 1}}, pages)
		assert.Equal(t, []reflector.ListInfo{{ResourceVersion: "4", Items: 3, Pages: 2, Duration: 2 * time.Second}}, lists)
		assert.Equal(t, []string{"4"}, started)
		assert.Equal(t, []string{"4"}, marks)
	})
}

func TestTraceOfAStreamingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var lists []reflector.ListInfo
		var marks []bool
		events := 0
		f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
		f.config.Trace = &reflector.Trace{
			Listed:   func(l reflector.ListInfo) { lists = append(lists, l) },
			Bookmark: func(_ string, initial bool) { marks = append(marks, initial) },
			Event:    func(api.WatchEventType, string) { events++ },
		}
		f.source.Add(informertest.Namespace("a"))
		stop := f.run()
		synctest.Wait()
		stop()
		assert.Equal(t, []reflector.ListInfo{{ResourceVersion: "2", Items: 1, Streamed: true}}, lists)
		assert.Equal(t, []bool{true}, marks)
		assert.Equal(t, 1, events)
	})
}
