package machine_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

// The incidents in testdata are regression tests as well; here are those that need more than a script. The numbers
// are those of the list of known defects of client-go, or of kubernetes issues.

// Defect 8.4: in an outage of half an hour the original makes 95 attempts, because its back-off starts again two
// minutes after it did so last. Ours grows once and stays.
func TestDefect8_4_BackOffDoesNotStartAgainDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var delays []time.Duration
		f.config.Trace = &reflector.Trace{BackOff: func(d time.Duration, _ error) { delays = append(delays, d) }}
		stop := f.run()
		synctest.Wait()
		for range 200 {
			f.source.FailWatch(syscall.ECONNREFUSED)
			f.source.FailList(syscall.ECONNREFUSED)
		}
		time.Sleep(time.Minute) // a healthy watch, and then
		f.source.Cut(syscall.ECONNRESET)
		time.Sleep(30 * time.Minute)
		stop()

		require.Greater(t, len(delays), 30)
		assert.Less(t, len(delays), 70)
		least := 800 * time.Millisecond
		for i, d := range delays {
			assert.GreaterOrEqual(t, d, least-time.Millisecond, "attempt %d", i)
			assert.LessOrEqual(t, d, 2*least+time.Millisecond, "attempt %d", i)
			least = min(2*least, 30*time.Second)
		}
	})
}

// The other half of 8.4: after health the back-off does start again, however short ago the last one was.
func TestDefect8_4_BackOffStartsAgainAfterHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var delays []time.Duration
		f.config.Backoff.Jitter = -1
		f.config.Trace = &reflector.Trace{BackOff: func(d time.Duration, _ error) { delays = append(delays, d) }}
		refuse := func() { f.source.FailWatch(syscall.ECONNREFUSED, syscall.ECONNREFUSED, syscall.ECONNREFUSED) }
		stop := f.run()
		synctest.Wait()

		time.Sleep(2 * time.Second) // neither an event nor ten seconds: no health
		refuse()
		f.source.Cut(nil)
		time.Sleep(6 * time.Second)
		f.source.Add(informertest.Namespace("a")) // an event: health
		synctest.Wait()
		refuse()
		f.source.Cut(nil)
		time.Sleep(17 * time.Second) // ten seconds of a watch: health
		refuse()
		f.source.Cut(nil)
		time.Sleep(time.Minute)
		stop()
		grow := []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond}
		assert.Equal(t, append(append(grow, grow...), grow...), delays)
	})
}

// Defect 8.5: the original opens a streaming list again at once, and without end, if the server closes it before the
// bookmark. An hour of that costs us a few requests.
func TestDefect8_5_NoHotLoopOfStreamingLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		closing := 0
		f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
		f.config.ListerWatcher = scripted{
			list: f.source.List,
			watch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				w, err := f.source.Watch(ctx, opts)
				if opts.SendInitialEvents {
					closing++
					f.source.Cut(nil)
				}
				return w, err
			},
		}
		f.source.SetStreamingList(informertest.StreamingWithoutBookmark)
		stop := f.run()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, reflector.DefaultStreamingListAttempts, closing)
		looks := slices.DeleteFunc(f.requests("list"), func(r informertest.Request) bool { return r.Options.Limit != 1 })
		assert.Len(t, f.requests("list"), 1+len(looks))
		assert.LessOrEqual(t, len(looks), 20, "one after each silence")
		assert.True(t, f.Snapshot().Synced)
		stop()
	})
}

// Defect 8.13: in the original a relist restarts the resync timer. Here an hour has six resyncs of ten minutes,
// although something forces a relist every four.
func TestDefect8_13_RelistsDoNotPostponeResyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.ResyncPeriod = 10 * time.Minute
		stop := f.run()
		for range 16 {
			time.Sleep(4*time.Minute - time.Second)
			f.source.SendError(informertest.Expired("too old"))
		}
		synctest.Wait()
		assert.Equal(t, 6, f.store.resynced())
		assert.Greater(t, len(f.requests("list")), 14)
		stop()
	})
}

// Issue 113305: one object that outlives its page must not keep the page alive.
func TestIssue113305_ItemsDoNotPinTheirPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.PageSize = 2
		var pages []weak.Pointer[*api.Namespace]
		var lists []weak.Pointer[api.List[*api.Namespace]]
		f.config.ListerWatcher = scripted{
			list: func(_ context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
				token := map[string]string{"": "two", "two": "three"}[opts.Continue]
				list := listOf("9", token, informertest.Namespace("a"+token), informertest.Namespace("b"+token))
				pages = append(pages, weak.Make(&list.Items[0]))
				lists = append(lists, weak.Make(list))
				return list, nil
			},
			watch: f.source.Watch,
		}
		f.source.FailWatch(informertest.TooManyRequests(time.Hour))
		stop := f.run()
		synctest.Wait()
		require.Len(t, pages, 3)
		require.Len(t, f.store.state(), 6)
		runtime.GC()
		for i := range pages {
			assert.Nil(t, pages[i].Value(), "page %d is kept", i+1)
			assert.Nil(t, lists[i].Value(), "list %d is kept", i+1)
		}
		runtime.KeepAlive(f.store)
		stop()
	})
}

// A store that closes when its owner ends, as the DeltaFIFO of an informer does, may refuse what is still on its way.
// That is no failure that anybody should be told of.
func TestNothingIsReportedAfterTheEnd(t *testing.T) {
	for _, op := range []string{"Replace", "Add"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			f.store.onCall = func(called string) error {
				if called != op {
					return nil
				}
				cancel()
				return errors.New("the store is closed")
			}
			f.config.WatchErrorHandler = func(_ context.Context, err error) { t.Errorf("reported: %v", err) }
			f.config.Trace = &reflector.Trace{StoreFailed: func(err *reflector.StoreError) { t.Errorf("traced: %v", err) }}
			r := machine.New(f.config)
			time.AfterFunc(time.Second, func() { f.source.Add(informertest.Namespace("a")) })
			r.Run(ctx)
			assert.Zero(t, r.Snapshot().StoreErrors)
		})
	}
}

// Issues 87472 and 95897: what happens between a list and the watch after it is not lost, neither by the fake source
// nor by the Reflector.
func TestIssue87472_NothingIsLostBetweenListAndWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.ListerWatcher = scripted{
			list: f.source.List,
			watch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				f.source.Add(informertest.Namespace("in-between"))
				f.source.Add(informertest.Namespace("gone"))
				f.source.Delete("gone")
				return f.source.Watch(ctx, opts)
			},
		}
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, map[string]string{"in-between": "2"}, f.store.state())
		stop()
	})
}

// A stream that was given up may still deliver: the other goroutine has decided that it is idle while an event was
// under way. The event is dropped; the watch that follows delivers it again.
func TestEventOfAnAbandonedStreamIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.IdleTimeout = time.Minute
		late := &lateWatcher{stopped: make(chan struct{})}
		watches := 0
		f.config.ListerWatcher = scripted{
			list: f.source.List,
			watch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				if watches++; watches == 1 {
					return late, nil
				}
				return f.source.Watch(ctx, opts)
			},
		}
		stop := f.run()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, watches)
		assert.Empty(t, f.store.state())
		assert.Equal(t, "1", f.LastSyncResourceVersion())
		stop()
	})
}

// lateWatcher delivers an event when it is stopped.
type lateWatcher struct{ stopped chan struct{} }

func (w *lateWatcher) Next() (api.WatchEvent[*api.Namespace], error) {
	<-w.stopped
	ns := informertest.Namespace("late")
	ns.ResourceVersion = "99"
	return api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: ns, ResourceVersion: "99"}, nil
}

func (w *lateWatcher) Stop() {
	select {
	case <-w.stopped:
	default:
		close(w.stopped)
	}
}

// A request that is answered after it was given up: its watch must be closed, not leaked.
func TestWatchThatOpensTooLateIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		late := &lateWatcher{stopped: make(chan struct{})}
		f.config.ListerWatcher = scripted{
			list: f.source.List,
			watch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
				<-ctx.Done()
				return late, nil
			},
		}
		stop := f.run()
		synctest.Wait()
		stop()
		select {
		case <-late.stopped:
		default:
			t.Error("the watch was not stopped")
		}
		assert.Empty(t, f.store.state())
	})
}

// A watch that knows only Stop, and nothing of its context, does not keep Run from ending.
func TestStopReachesAWatchThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.ListerWatcher = scripted{
			list: f.source.List,
			watch: func(context.Context, api.ListOptions) (api.Watcher[*api.Namespace], error) {
				return &lateWatcher{stopped: make(chan struct{})}, nil
			},
		}
		stop := f.run()
		synctest.Wait()
		stop()
		assert.Empty(t, f.store.state(), "an event after the end")
	})
}

// A request that outlives its attempt (its ListerWatcher ignores the context) does not count for the next attempt.
func TestWatchThatOpensDuringTheNextAttemptIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.IdleTimeout = time.Minute
		late := &lateWatcher{stopped: make(chan struct{})}
		watches := 0
		f.config.ListerWatcher = scripted{
			list: f.source.List,
			watch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				if watches++; watches == 1 {
					time.Sleep(70 * time.Second)
					return late, nil
				}
				return f.source.Watch(ctx, opts)
			},
		}
		stop := f.run()
		time.Sleep(71 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, watches)
		<-late.stopped
		f.source.Add(informertest.Namespace("a"))
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2"}, f.store.state())
		stop()
	})
}

// An object that was deleted is garbage even while nothing else happens on the watch.
func TestAnIdleWatchKeepsNoObjectAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		events := make(chan api.WatchEvent[*api.Namespace])
		f.config.ListerWatcher = scripted{
			list: f.source.List,
			watch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
				return &channelWatcher{ctx, events}, nil
			},
		}
		stop := f.run()
		gone := informertest.Namespace("gone")
		object := weak.Make(gone)
		events <- api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: gone, ResourceVersion: "8"}
		events <- api.WatchEvent[*api.Namespace]{Type: api.WatchDeleted, Object: gone, ResourceVersion: "9"}
		synctest.Wait()
		require.Equal(t, "9", f.LastSyncResourceVersion())
		gone = nil
		runtime.GC()
		assert.Nil(t, object.Value())
		stop()
	})
}

// channelWatcher delivers what is sent on a channel.
type channelWatcher struct {
	ctx    context.Context
	events chan api.WatchEvent[*api.Namespace]
}

func (w *channelWatcher) Next() (api.WatchEvent[*api.Namespace], error) {
	select {
	case event := <-w.events:
		return event, nil
	case <-w.ctx.Done():
		return api.WatchEvent[*api.Namespace]{}, w.ctx.Err()
	}
}

func (w *channelWatcher) Stop() {}

// A server that falls back in its history (a watch cache that replays, a proxy that repeats) sends events that have been seen. Applied
// as if they were news they take the store back, and bring back what is deleted, until the objects change again. client-go
// applies them. Found by internal/lab/chaos.
func TestRegressionStaleEventsAreNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.source.Add(informertest.Namespace("kept"))
		f.source.Add(informertest.Namespace("deleted"))
		stop := f.run()
		defer stop()
		synctest.Wait()
		before := f.source.Objects()
		kept := f.source.Modify(informertest.Namespace("kept"))
		f.source.Delete("deleted")
		synctest.Wait()
		position := f.LastSyncResourceVersion()

		for _, again := range []api.WatchEvent[*api.Namespace]{
			{Type: api.WatchAdded, Object: before["deleted"]},
			{Type: api.WatchModified, Object: before["deleted"]},
			{Type: api.WatchModified, Object: before["kept"]},
			{Type: api.WatchDeleted, Object: before["kept"]},
			{Type: api.WatchModified, Object: kept},
		} {
			again.ResourceVersion = again.Object.ResourceVersion
			f.source.Send(again)
		}
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchBookmark, ResourceVersion: "1"})
		synctest.Wait()
		assert.Equal(t, map[string]*api.Namespace{"kept": kept}, f.store.content)
		assert.Equal(t, position, f.LastSyncResourceVersion())
		assert.Equal(t, 5, f.Snapshot().Stale)
		assert.Equal(t, 2, f.Snapshot().Events)

		// Versions that are no numbers say nothing about order.
		odd := informertest.Namespace("odd")
		odd.ResourceVersion = "a1"
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: odd, ResourceVersion: "a1"})
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchDeleted, Object: odd, ResourceVersion: "a0"})
		synctest.Wait()
		assert.Len(t, f.store.content, 1)
		assert.Equal(t, 4, f.Snapshot().Events)
	})
}

// An old bookmark, from a proxy that repeats or a watch cache that replays, used to reach the store, whose resourceVersion then went
// backwards although the position of the Reflector did not.
func TestRegressionOldBookmarksDoNotReachTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		store := &markedMemory{memory: f.store}
		f.config.Store = store
		var seen []string
		f.config.Trace = &reflector.Trace{Bookmark: func(rv string, _ bool) { seen = append(seen, rv) }}
		stop := f.run()
		defer stop()
		synctest.Wait()
		for _, version := range []string{"7", "5", "7", "", "9", "10", "2"} {
			f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchBookmark, ResourceVersion: version})
		}
		synctest.Wait()
		assert.Equal(t, []string{"7", "7", "9", "10"}, store.marks, "the store is told of every bookmark but those that are older than what it has")
		assert.Equal(t, "10", f.LastSyncResourceVersion())
		assert.Equal(t, []string{"7", "5", "7", "", "9", "10", "2"}, seen, "a trace is told of each")
		assert.Equal(t, 7, f.Snapshot().Bookmarks)
	})
}

// markedMemory is a store that is told of bookmarks.
type markedMemory struct {
	*memory
	marks []string
}

func (m *markedMemory) Bookmark(resourceVersion string) { m.marks = append(m.marks, resourceVersion) }

// A server sends what it has sent before, and ends the watch at once, again and again. Where the versions say nothing about order
// that looks like news each time, and used to be asked for again without a pause.
func TestAWatchThatRepeatsItselfIsNoHotLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		watches := 0
		f.config.ListerWatcher = scripted{
			list: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
				return listOf("x1", ""), nil
			},
			watch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
				if watches++; watches > 1000 {
					<-ctx.Done() // enough is known
				}
				return &repeatingWatcher{}, nil
			},
		}
		stop := f.run()
		time.Sleep(time.Minute)
		stop()
		assert.Less(t, watches, 100)
		assert.Contains(t, f.store.state(), "again")
	})
}

// repeatingWatcher delivers one event and ends.
type repeatingWatcher struct{ done bool }

func (w *repeatingWatcher) Next() (api.WatchEvent[*api.Namespace], error) {
	if w.done {
		return api.WatchEvent[*api.Namespace]{}, io.EOF
	}
	w.done = true
	ns := versionedNamespace("again", "x2")
	return api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: ns, ResourceVersion: "x2"}, nil
}

func (w *repeatingWatcher) Stop() {}
