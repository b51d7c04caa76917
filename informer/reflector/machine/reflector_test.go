package machine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
	"orrery/wait"
)

type noStreamingLists struct {
	*informertest.FakeSource[*api.Namespace]
}

func (noStreamingLists) IsWatchListSemanticsUnSupported() bool { return true }

func TestWhenStreamingListsAreNotTried(t *testing.T) {
	for name, change := range map[string]func(f *fixture){
		"switched off":        func(f *fixture) { f.config.DisableWatchList = true },
		"no key function":     func(f *fixture) { f.config.KeyFunc = nil },
		"the source declines": func(f *fixture) { f.config.ListerWatcher = noStreamingLists{f.source} },
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

// TestCollectingSurvivesBadObjects: an object without a key is left out of a streaming list and
// reported.
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
		var reported []*reflector.StoreError
		f.config.Trace = &reflector.Trace{StoreFailed: func(err *reflector.StoreError) {
			reported = append(reported,
				err)
		}}
		f.source.Add(informertest.Namespace("a"))
		f.source.Add(informertest.Namespace("bad"))
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2"}, f.store.State())
		require.Len(t, reported, 1)
		assert.Equal(t, reflector.OpKey, reported[0].Op)
		assert.Equal(t, "3", reported[0].ResourceVersion)
		assert.Equal(t, 1, f.Snapshot().StoreErrors)
		assert.Same(t, reported[0], f.Snapshot().LastStoreError)
		stop()
	})
}

// TestRepeatedTokenLeadsToTheWholeList: a server that repeats a continue token is asked for
// the whole list at once.
func TestRepeatedTokenLeadsToTheWholeList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var asked []api.ListOptions
		f.config.PageSize = 1
		f.config.ListerWatcher = reflectortest.Scripted{
			OnList: func(_ context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
				asked = append(asked, opts)
				if opts.Limit > 0 {
					return reflectortest.ListOf("5", "again", informertest.Namespace("a")), nil
				}
				return reflectortest.ListOf("5", "", informertest.Namespace("a"), informertest.Namespace("b")), nil
			},
			OnWatch: f.source.Watch,
		}
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, []api.ListOptions{
			{ResourceVersion: "0", Limit: 1}, {Limit: 1, Continue: "again"}, {ResourceVersion: "0"}}, asked)
		assert.Len(t, f.store.State(), 2)
		stop()
	})
}

// runAndRecover runs the Reflector until it panics and returns the panic value.
func runAndRecover(f *fixture) (value any) {
	defer func() { value = recover() }()
	machine.New(f.config).Run(context.Background())
	return nil
}

// TestPanicOfAResync: a panic on the timer's goroutine is passed on with its own stack.
func TestPanicOfAResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.ResyncPeriod = time.Minute
		f.store.OnCall = func(op string) error {
			if op == "Resync" {
				panic("the store is broken")
			}
			return nil
		}
		value := runAndRecover(f)
		crash, carried := value.(*wait.Panic)
		require.True(t, carried, "%v", value)
		assert.Equal(t, "the store is broken", crash.Value)
		assert.Contains(t, string(crash.Stack), "reflector_test.go")
		assert.Zero(t, f.source.Watchers())
	})
}

func TestSuite(t *testing.T) {
	reflectortest.Run(t, reflectortest.Implementation{
		New: func(cfg reflectortest.Config) reflectortest.Reflector { return machine.New(cfg) },
	})
}

func TestTraceOfAStreamingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var lists []reflector.ListInfo
		var marks []bool
		var phases []string
		events := 0
		f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
		f.config.Trace = &reflector.Trace{
			StateChanged: func(from, to reflector.Phase, on string) {
				phases = append(phases, from.String()+" -"+on+"-> "+to.String())
			},
			Listed:   func(l reflector.ListInfo) { lists = append(lists, l) },
			Bookmark: func(_ string, initial bool) { marks = append(marks, initial) },
			Event:    func(reflector.EventInfo) { events++ },
		}
		f.source.Add(informertest.Namespace("a"))
		stop := f.run()
		synctest.Wait()
		stop()
		assert.Equal(t, []string{
			"Idle -Start-> OpeningStream", "OpeningStream -Opened-> Streaming", "Streaming -Bookmark-> Replacing",
			"Replacing -Replaced-> Watching", "Watching -Stop-> Stopped"}, phases)
		assert.Equal(t, []reflector.ListInfo{{ResourceVersion: "2", Items: 1, Streamed: true}}, lists)
		assert.Equal(t, []bool{true}, marks)
		assert.Equal(t, 1, events)
	})
}

func nameOf(ns *api.Namespace) (string, error) { return ns.Name, nil }

// fixture is a Reflector between a fake source and an in-memory store.
type fixture struct {
	source *informertest.FakeSource[*api.Namespace]
	store  *reflectortest.Memory
	config reflector.Config[*api.Namespace]
	*machine.Reflector[*api.Namespace]
}

func newFixture(t testing.TB) *fixture {
	f := &fixture{source: informertest.NewNamespaceSource(), store: reflectortest.NewMemory(t)}
	f.config = reflector.Config[*api.Namespace]{Name: "namespaces", ListerWatcher: f.source, Store: f.store,
		DisableWatchList: true}
	return f
}

// run starts the Reflector. stop stops it and waits for it.
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

// withoutKeepalive runs a test with a Reflector whose connections have no keepalive, as with
// HTTP/1.1.
func withoutKeepalive(t *testing.T, configure func(f *fixture), test func(t *testing.T, f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.source.Change(func(b *informertest.Behaviour) { b.NoKeepalive = true })
		configure(f)
		stop := f.run()
		defer stop()
		synctest.Wait()
		test(t, f)
	})
}

// A quiet watch over HTTP/1.1 ends normally again and again, for a day, and never by its idle
// timeout.
func TestQuietWatchesOverHTTP1(t *testing.T) {
	idle := 0
	withoutKeepalive(t, func(f *fixture) {
		f.config.Trace = &reflector.Trace{IdleTimeout: func(time.Duration) { idle++ }}
	}, func(t *testing.T, f *fixture) {
		time.Sleep(24 * time.Hour)
		shot := f.Snapshot()
		assert.Zero(t, idle)
		assert.Equal(t, 1, shot.Lists)
		assert.LessOrEqual(t, shot.Watches, 24*60*2, "not more than two a minute")
		lengths := map[int64]bool{}
		for _, watch := range f.requests("watch") {
			lengths[watch.Options.TimeoutSeconds] = true
		}
		assert.Greater(t, len(lengths), 5, "watches that began together must not end together")
		for length := range lengths {
			assert.GreaterOrEqual(t, length, int64(31))
			assert.LessOrEqual(t, length, int64(40))
		}
	})
}

// Where it is not known beforehand whether connections have keepalive, the first watch shows it.
func TestTheFirstWatchShowsKeepalive(t *testing.T) {
	withoutKeepalive(t, func(f *fixture) {
		f.config.ListerWatcher = reflectortest.Scripted{OnList: f.source.List, OnWatch: f.source.Watch}
	}, func(t *testing.T, f *fixture) {
		time.Sleep(time.Hour)
		watches := f.requests("watch")
		assert.GreaterOrEqual(t, watches[0].Options.TimeoutSeconds, int64(300))
		for _, watch := range watches[1:] {
			assert.Less(t, watch.Options.TimeoutSeconds, int64(45))
		}
	})
}

// An idle timeout below a second cannot be sent to a server, which counts in seconds; a disabled
// one does not shorten watches.
func TestNoBriefWatchesForOddIdleTimeouts(t *testing.T) {
	for _, idle := range []time.Duration{-1, 500 * time.Millisecond} {
		withoutKeepalive(t, func(f *fixture) { f.config.IdleTimeout = idle }, func(t *testing.T, f *fixture) {
			time.Sleep(10 * time.Second)
			for _, watch := range f.requests("watch") {
				assert.GreaterOrEqual(t, watch.Options.TimeoutSeconds, int64(300))
			}
		})
	}
}

// Events show that the server has reached the resourceVersion: while they arrive, there is
// nothing to verify.
func TestEventsAreNewsEnough(t *testing.T) {
	withoutKeepalive(t, func(*fixture) {}, func(t *testing.T, f *fixture) {
		for range 60 {
			time.Sleep(10 * time.Second)
			f.source.Modify(informertest.Namespace("a"))
		}
		synctest.Wait()
		assert.Len(t, f.requests("list"), 1)
		assert.Greater(t, len(f.requests("watch")), 10)
	})
}
