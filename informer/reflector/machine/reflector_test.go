package machine_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
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
			reported = append(reported, err)
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

// TestPanicOfTheLastHook: a hook that panics at the step to Stopped ends Run too, with its panic.
func TestPanicOfTheLastHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		stopping := make(chan struct{})
		f.config.ListerWatcher = reflectortest.Scripted{OnWatch: f.source.Watch,
			OnList: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
				cancel()
				<-stopping // so that the timers' goroutine sees the end of ctx first
				return nil, ctx.Err()
			}}
		f.config.Trace = &reflector.Trace{StateChanged: func(_, to reflector.Phase, _ string) {
			if to.String() == "Stopped" {
				close(stopping)
				panic("the hook is broken")
			}
		}}
		assert.Panics(t, func() { machine.New(f.config).Run(ctx) })
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

// The incidents in testdata are regression tests as well; these need more than a script. The
// numbers are those of the list of known client-go defects, or of kubernetes issues.

// Defect 8.5: client-go reopens a streaming list at once, and without end, if the server closes
// it before the bookmark. Here an hour of that costs a few requests.
func TestDefect8_5_NoHotLoopOfStreamingLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		closing := 0
		f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
		f.config.ListerWatcher = reflectortest.Scripted{
			OnList: f.source.List,
			OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				w, err := f.source.Watch(ctx, opts)
				if opts.SendInitialEvents {
					closing++
					f.source.Cut(nil)
				}
				return w, err
			},
		}
		f.source.Change(func(b *informertest.Behaviour) { b.Streaming = informertest.StreamingWithoutBookmark })
		stop := f.run()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, 3, closing, "after three attempts the state is listed")
		looks := slices.DeleteFunc(f.requests("list"),
			func(r informertest.Request) bool { return r.Options.Limit != 1 })
		assert.Len(t, f.requests("list"), 1+len(looks))
		assert.LessOrEqual(t, len(looks), 20, "one after each silence")
		assert.True(t, f.Snapshot().Synced)
		stop()
	})
}

// lateFirstWatch makes the first watch a [reflectortest.LateWatcher] that opens after a time. The
// others are the source's. It returns the watcher and the number of watches so far.
func (f *fixture) lateFirstWatch(after time.Duration) (late *reflectortest.LateWatcher, watches *int) {
	late, watches = reflectortest.NewLateWatcher(), new(int)
	f.config.ListerWatcher = reflectortest.Scripted{
		OnList: f.source.List,
		OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
			if *watches++; *watches == 1 {
				time.Sleep(after)
				return late, nil
			}
			return f.source.Watch(ctx, opts)
		},
	}
	return late, watches
}

// A stopped stream may still deliver: the other goroutine has found it idle while an event was in
// flight. The event is dropped; the next watch delivers it again.
func TestEventOfAnAbandonedStreamIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.IdleTimeout = time.Minute
		_, watches := f.lateFirstWatch(0)
		stop := f.run()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, *watches)
		assert.Empty(t, f.store.State())
		assert.Equal(t, "1", f.LastSyncResourceVersion())
		stop()
	})
}

// A request that outlives its attempt, because its ListerWatcher ignores the context, does not
// count for the next attempt.
func TestWatchThatOpensDuringTheNextAttemptIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.IdleTimeout = time.Minute
		late, watches := f.lateFirstWatch(70 * time.Second)
		stop := f.run()
		time.Sleep(71 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, *watches)
		assert.True(t, late.IsStopped(), "the watch that was opened too late is left open")
		f.source.Add(informertest.Namespace("a"))
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2"}, f.store.State())
		stop()
	})
}

// restorable is a server whose etcd can be replaced by a backup: by another source, with lower
// versions. It behaves like kube-apiserver v1.36 (tested): it refuses a list at a future version.
// A watch from there is accepted and delivers nothing, not even bookmarks, until the version is
// reached.
type restorable struct {
	source atomic.Pointer[informertest.FakeSource[*api.Namespace]]

	noKeepalive bool
}

// restore replaces the server by another one, which refuses connections for a while, and then some
// lists as well.
func (s *restorable) restore(source *informertest.FakeSource[*api.Namespace], outage time.Duration, busy int) {
	old := s.source.Swap(source)
	refusals := slices.Repeat([]error{syscall.ECONNREFUSED}, int(outage/time.Second))
	source.FailList(refusals...)
	source.FailWatch(refusals...)
	old.Cut(syscall.ECONNRESET)
	time.Sleep(outage)
	source.ClearFaults()
	source.FailList(slices.Repeat([]error{informertest.TooManyRequests(time.Second)}, busy)...)
}

func (s *restorable) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	return s.source.Load().List(ctx, opts)
}

func (s *restorable) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	source := s.source.Load()
	asked, _ := strconv.Atoi(opts.ResourceVersion)
	reached, _ := strconv.Atoi(source.ResourceVersion())
	if !opts.SendInitialEvents && asked > reached {
		opts.ResourceVersion = source.ResourceVersion()
	}
	watcher, err := source.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &watchOfTheFuture{Watcher: watcher, after: asked, keepalive: !s.noKeepalive}, err
}

// watchOfTheFuture drops all events up to a version.
type watchOfTheFuture struct {
	api.Watcher[*api.Namespace]
	after     int
	keepalive bool
}

func (w *watchOfTheFuture) HasKeepalive() bool { return w.keepalive }

func (w *watchOfTheFuture) Next() (api.WatchEvent[*api.Namespace], error) {
	for {
		event, err := w.Watcher.Next()
		if version, _ := strconv.Atoi(event.ResourceVersion); err != nil || version > w.after {
			return event, err
		}
	}
}

// A cluster whose etcd was restored from a backup repeats versions. A client that watches from a
// future version receives nothing for hours; with client-go all controllers have to be restarted
// after a restore.
func TestEtcdIsRestoredFromABackup(t *testing.T) {
	for name, c := range map[string]struct {
		outage      time.Duration
		busy        int
		noKeepalive bool
		within      time.Duration
	}{
		"after an outage":                     {outage: 20 * time.Second, within: 100 * time.Second},
		"after an outage, busy at first":      {outage: 20 * time.Second, busy: 1, within: 150 * time.Second},
		"behind a load balancer":              {within: 4 * time.Minute},
		"behind a load balancer, by HTTP/1.1": {noKeepalive: true, within: 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				server := &restorable{noKeepalive: c.noKeepalive}
				server.source.Store(f.source)
				f.config.ListerWatcher = server
				var refused []string
				f.config.Trace = &reflector.Trace{Expired: func(rv string, err error) {
					assert.Equal(t, reflector.CauseTooLarge, reflector.CauseOf(err))
					refused = append(refused, rv)
				}}
				stop := f.run()
				defer stop()
				for range 50 {
					f.source.AdvanceVersion()
				}
				f.source.Add(informertest.Namespace("lost"))
				time.Sleep(10 * time.Second) // a watch that breaks at once leads to a list, which is another case

				backup := informertest.NewNamespaceSource()
				backup.Add(informertest.Namespace("kept"))
				server.restore(backup, c.outage, c.busy)
				backup.Add(informertest.Namespace("new"))
				time.Sleep(c.within)

				require.Equal(t, reflectortest.Versions(backup.Objects()), f.store.State(),
					"the store still has the state from before the restore")
				assert.Equal(t, []string{"52"}, refused)
				backup.Delete("kept")
				synctest.Wait()
				assert.Equal(t, reflectortest.Versions(backup.Objects()), f.store.State(), "it follows again")
			})
		})
	}
}

// In an ordinary outage, reopening the watch costs one extra request for one object, and no list.
func TestAfterAnOutageTheVersionIsVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		server := &restorable{}
		server.source.Store(f.source)
		f.config.ListerWatcher = server
		stop := f.run()
		defer stop()
		synctest.Wait()
		f.source.Add(informertest.Namespace("a"))
		synctest.Wait()
		before := len(f.requests("list"))
		server.restore(f.source, 20*time.Second, 0)
		f.source.Add(informertest.Namespace("b"))
		time.Sleep(time.Minute)

		verifies := api.ListOptions{ResourceVersion: "2", ResourceVersionMatch: api.MatchNotOlderThan, Limit: 1}
		for _, asked := range f.requests("list")[before:] { // most of them were refused
			assert.Equal(t, verifies, asked.Options)
		}
		assert.Equal(t, reflectortest.Versions(f.source.Objects()), f.store.State())
	})
}

// The list that verifies the resourceVersion waits for the client's own rate limiter. That wait
// used to count as the server's silence, so the watch was not opened while the limiter was
// exhausted.
func TestAVerificationThatIsThrottledIsNotGivenUp(t *testing.T) {
	for name, wait := range map[string]time.Duration{"a minute": time.Minute,
		"less than the answer may take": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				verified, answers := 0, true
				f.config.ListerWatcher = reflectortest.Scripted{
					OnList: func(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
						if opts.Limit != 1 {
							return f.source.List(ctx, opts)
						}
						verified++
						api.Throttled(ctx, wait)
						select {
						case <-time.After(wait):
						case <-ctx.Done():
							return nil, ctx.Err()
						}
						if !answers {
							<-ctx.Done()
							return nil, ctx.Err()
						}
						return f.source.List(ctx, opts)
					},
					OnWatch: f.source.Watch,
				}
				f.config.Backoff = reflector.BackoffConfig{Initial: time.Minute, Jitter: -1}
				f.source.Change(func(b *informertest.Behaviour) { b.NoKeepalive = true })
				stop := f.run()
				defer stop()
				synctest.Wait()
				f.source.Silence()
				missed := f.source.Add(reflectortest.NamespaceAt("missed", ""))
				time.Sleep(45*time.Second + wait + time.Millisecond)
				synctest.Wait()
				assert.Equal(t, 1, verified, "the first verification is waited for")
				assert.Equal(t, missed.ResourceVersion, f.store.State()["missed"])

				// Beyond that the server has its usual time.
				answers = false
				f.source.Silence()
				time.Sleep(45*time.Second + wait + 9*time.Second)
				assert.Equal(t, reflector.PhaseOpeningWatch, f.Snapshot().Phase)
				time.Sleep(2 * time.Second)
				assert.Equal(t, reflector.PhaseBackingOff, f.Snapshot().Phase)
			})
		})
	}
}
