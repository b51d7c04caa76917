package machine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

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
	r := machine.New(f.config)
	r.Run(ctx)
	assert.Equal(t, reflector.PhaseStopped, r.Snapshot().Phase)
	assert.Empty(t, f.store.versions)
	assert.PanicsWithValue(t, "reflector: Run was called twice", func() { r.Run(ctx) })
}

func TestShouldResyncIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var asked atomic.Int32
		var wanted atomic.Bool
		var traced []error
		f.config.ResyncPeriod = time.Minute
		f.config.ShouldResync = func() bool { asked.Add(1); return wanted.Load() }
		f.config.Trace = &reflector.Trace{Resync: func(err error) { traced = append(traced, err) }}
		stop := f.run()
		time.Sleep(150 * time.Second)
		synctest.Wait()
		assert.EqualValues(t, 2, asked.Load())
		assert.Zero(t, f.store.resynced())
		wanted.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		assert.EqualValues(t, 3, asked.Load())
		assert.Equal(t, 1, f.store.resynced())
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
		assert.Equal(t, 54, f.store.resynced())
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
