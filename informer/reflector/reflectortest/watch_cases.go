package reflectortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"syscall"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// someTime is longer than the first back-off, and shorter than any timeout.
const someTime = 5 * time.Second

// watchCases are those that keep the position.
var watchCases = []suiteCase{
	{"the store gets the list, and then the changes", func(f *fixture) {
		f.add("kept")
		f.add("deleted")
		var calls []string
		f.store.OnCall = func(op string) error { calls = append(calls, op); return nil }
		f.start()
		assert.Equal(f, map[string]string{"kept": "2", "deleted": "3"}, f.store.State(), "the store has the list")
		f.source.Modify(informertest.Namespace("kept"))
		f.pass(0)
		assert.Equal(f, map[string]string{"kept": "4", "deleted": "3"}, f.store.State(), "the store has the update")
		assert.Equal(f, "4", f.LastSyncResourceVersion(), "an update moves the position")
		f.source.Delete("deleted")
		f.pass(0)
		assert.Equal(f, map[string]string{"kept": "4"}, f.store.State(), "the store has the deletion")
		assert.Equal(f, "5", f.LastSyncResourceVersion(), "a deletion moves the position")
		f.add("new")
		f.pass(0)
		assert.Equal(f, map[string]string{"kept": "4", "new": "6"}, f.store.State(), "the store has the new object")
		assert.Equal(f, "6", f.LastSyncResourceVersion(), "an addition moves the position")
		assert.Equal(f, []string{"Replace", "Update", "Delete", "Add"}, calls,
			"MODIFIED is an Update, DELETED a Delete, ADDED an Add")
		assert.Equal(f, []string{"3"}, f.store.Replaced, "the store gets the version of the list")
		assert.Equal(f, []string{"0"}, f.asked("list"), "the first list accepts any version in the server's cache")
		assert.Equal(f, []string{"3"}, f.asked("watch"), "the watch begins at the version of the list")
		shot := f.Snapshot()
		assert.True(f, shot.Synced, wantSynced)
		assert.Equal(f, []int{1, 1, 1, 3}, []int{shot.Rounds, shot.Lists, shot.Watches, shot.Events},
			"rounds, list requests, watches, events")
	}},
	{"the position moves when the change is in the store", func(f *fixture) {
		positions := map[string]string{}
		f.store.OnCall = func(op string) error { positions[op] = f.LastSyncResourceVersion(); return nil }
		f.start()
		f.add("a")
		f.pass(0)
		assert.Equal(f, "1", positions["Add"],
			"while the store adds the object, the position must still be the one before")
		assert.Equal(f, "2", f.LastSyncResourceVersion(), "the store has the object now")
	}},
	// kubernetes issues 87472 and 95897
	{"nothing is lost between list and watch", func(f *fixture) {
		f.config.Trace = &reflector.Trace{Listed: func(reflector.ListInfo) {
			f.add("in-between")
			f.add("gone")
			f.source.Delete("gone")
		}}
		f.start()
		assert.Equal(f, map[string]string{"in-between": "2"}, f.store.State())
	}},
	{"a watch that ends is reopened at its position", func(f *fixture) {
		for name, end := range map[string]error{"normally": nil, "reset": syscall.ECONNRESET,
			"cut in the middle": io.ErrUnexpectedEOF,
			"unintelligible":    errors.New("unintelligible")} {
			f.pass(someTime)
			if f.Reflector == nil {
				f.start()
			}
			f.add("a")
			f.pass(2 * time.Second)
			watches := len(f.requests("watch"))
			f.source.Cut(end)
			f.pass(0)
			require.Len(f, f.asked("watch"), watches+1, "%s: at once", name)
			assert.Equal(f, f.source.ResourceVersion(), f.asked("watch")[watches], name)
		}
		assert.Len(f, f.asked("list"), 1, "the watch continues without a list")
		assert.Empty(f, f.errors)
	}},
	{"changes while no watch is open are not lost", func(f *fixture) {
		f.add("deleted")
		f.start()
		f.pass(someTime)
		release := f.source.Hold()
		f.source.Cut(nil)
		f.pass(0)
		f.add("added")
		f.source.Delete("deleted")
		release()
		f.pass(0)
		assert.Equal(f, map[string]string{"added": "3"}, f.store.State())
	}},
	{"a restart of the server costs no list", func(f *fixture) {
		f.add("a")
		f.start()
		f.pass(someTime)
		f.source.FailWatch(syscall.ECONNREFUSED, syscall.ECONNREFUSED, syscall.ECONNREFUSED)
		f.source.Cut(syscall.ECONNRESET)
		f.add("b")
		f.pass(time.Minute)
		assert.Equal(f, map[string]string{"a": "2", "b": "3"}, f.store.State())
		lists := 0
		for _, r := range f.requests("list") {
			if r.Options.Limit != 1 { // which only verifies the position
				lists++
			}
		}
		assert.Equal(f, 1, lists)
		assert.Empty(f, f.errors)
		assert.GreaterOrEqual(f, f.Snapshot().Watches, 4)
	}},
	{"Retry-After is honoured, and the position is kept", func(f *fixture) {
		for name, again := range map[string]func(){
			"while opening": func() {
				f.source.FailWatch(informertest.TooManyRequests(time.Minute))
				f.source.Cut(nil)
			},
			"while watching": func() {
				later := informertest.TooManyRequests(0)
				later.Status.Details = &api.StatusDetails{RetryAfterSeconds: 60}
				f.source.SendError(later)
			},
		} {
			if f.Reflector == nil {
				f.start()
			}
			f.pass(someTime)
			watches := len(f.requests("watch"))
			again()
			f.pass(59 * time.Second)
			waiting := f.Snapshot()
			assert.Equal(f, reflector.PhaseBackingOff.String(), waiting.Phase.String(),
				"%s: the server asks to wait for a minute", name)
			assert.Equal(f, time.Second, time.Until(waiting.NextAttempt), name)
			f.pass(2 * time.Second)
			assert.Equal(f, reflector.PhaseWatching, f.Snapshot().Phase, name)
			assert.Zero(f, f.Snapshot().NextAttempt, name)
			assert.LessOrEqual(f, len(f.requests("watch")), watches+2, name)
			f.pass(time.Minute)
		}
		assert.Len(f, f.asked("list"), 1)
	}},
	{"Retry-After is honoured for five minutes at most", func(f *fixture) {
		f.source.FailList(informertest.TooManyRequests(24 * time.Hour))
		f.start()
		f.pass(reflector.LongestRetryAfter - time.Second)
		assert.False(f, f.Snapshot().Synced, "want no list before the five minutes are over")
		f.pass(time.Second)
		assert.True(f, f.Snapshot().Synced, "want a list after five minutes, although the server asked for a day")
	}},
	{"the time limits of watches are random", func(f *fixture) {
		f.config.IdleTimeout = -1
		f.start()
		f.pass(20 * 10 * time.Minute)
		watches := f.requests("watch")
		require.GreaterOrEqual(f, len(watches), 20,
			"the server ends each watch at its time limit, and the next begins at once")
		different := map[int64]bool{}
		for _, w := range watches {
			assert.GreaterOrEqual(f, w.Options.TimeoutSeconds, int64(300))
			assert.Less(f, w.Options.TimeoutSeconds, int64(600))
			assert.True(f, w.Options.AllowWatchBookmarks)
			different[w.Options.TimeoutSeconds] = true
		}
		assert.Greater(f, len(different), 3, "watches that began together must not end together")
		assert.Len(f, f.asked("list"), 1, "a renewed watch needs no list")
	}},
	{"MinWatchTimeout changes the time limits", func(f *fixture) {
		f.config.IdleTimeout, f.config.MinWatchTimeout = -1, 10*time.Second
		f.start()
		f.pass(5 * time.Minute)
		for _, w := range f.requests("watch") {
			assert.GreaterOrEqual(f, w.Options.TimeoutSeconds, int64(10))
			assert.Less(f, w.Options.TimeoutSeconds, int64(20))
		}
	}},
	{"bookmarks move the position", func(f *fixture) {
		var seen []string
		f.config.Trace = &reflector.Trace{Bookmark: func(rv string, _ bool) { seen = append(seen, rv) }}
		f.add("a")
		f.start()
		f.source.AdvanceVersion()
		f.source.SendBookmark()
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchBookmark}) // no version: ignored
		f.pass(2 * time.Second)
		assert.Equal(f, "3", f.LastSyncResourceVersion(), "a bookmark moves the position")
		assert.Equal(f, []string{"3"}, f.store.Marks, "the store gets the bookmark")
		assert.Equal(f, []string{"3", ""}, seen, "the trace gets both bookmarks")
		assert.Equal(f, 2, f.Snapshot().Bookmarks)
		assert.Zero(f, f.Snapshot().Events)
		f.source.Cut(nil)
		f.pass(0)
		assert.Equal(f, []string{"2", "3"}, f.asked("watch"),
			"versions compacted before the bookmark are not requested")
		assert.Equal(f, map[string]string{"a": "2"}, f.store.State())
	}},
	// Versions are the server's business: an aggregated server may count the changes of each object,
	// or give a list another kind of number. An event that is not applied is lost.
	{"an event is applied whatever its version", func(f *fixture) {
		for name, c := range map[string]struct {
			listed *api.List[*api.Namespace]
			event  api.WatchEvent[*api.Namespace]
			want   map[string]string
		}{
			"a deletion at the version of its object and of the list": {
				ListOf("1", "", NamespaceAt("a", "1")),
				Event(api.WatchDeleted, "a", "1"), map[string]string{}},
			"a deletion older than the list": {
				ListOf("9", "", NamespaceAt("a", "5")),
				Event(api.WatchDeleted, "a", "5"), map[string]string{}},
			"a change, if the list's version is a time": {
				ListOf("1700000000", "", NamespaceAt("a", "1")),
				Event(api.WatchModified, "a", "3"), map[string]string{"a": "3"}},
			"a change at the version of its object": {
				ListOf("9", "", NamespaceAt("a", "5")),
				Event(api.WatchModified, "a", "5"), map[string]string{"a": "5"}},
			"a new object after an empty list": {
				ListOf("100", ""),
				Event(api.WatchAdded, "a", "1"), map[string]string{"a": "1"}},
			"a new object with the version of another one": {
				ListOf("9", "", NamespaceAt("b", "5")),
				Event(api.WatchAdded, "a", "5"), map[string]string{"a": "5", "b": "5"}},
		} {
			events := make(chan api.WatchEvent[*api.Namespace])
			f.config.ListerWatcher = Scripted{
				OnList: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
					return c.listed, nil
				},
				OnWatch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
					return &ChannelWatcher{ctx, events}, nil
				},
			}
			stop := f.start()
			events <- c.event
			f.pass(0)
			assert.Equal(f, c.want, f.store.State(), "%s: the store lacks the event's effect", name)
			stop()
		}
	}},
	{"an event of unknown type only moves the position", func(f *fixture) {
		var seen []api.WatchEventType
		f.config.Trace = &reflector.Trace{Event: func(e reflector.EventInfo) { seen = append(seen, e.Type) }}
		f.start()
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: "EXPLODED", ResourceVersion: "77"})
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: informertest.Namespace("x")})
		f.pass(0)
		assert.Equal(f, "77", f.LastSyncResourceVersion(), "an object without a version does not move the position")
		assert.Contains(f, f.store.State(), "x")
		assert.Equal(f, []api.WatchEventType{"EXPLODED", api.WatchAdded}, seen)
		assert.Len(f, f.asked("watch"), 1)
	}},
	// A watch at "" or "0" begins with all objects, as ADDED events in any order.
	{"the initial events of a watch from no definite version do not move the position", func(f *fixture) {
		f.add("a")
		f.add("b")
		for _, version := range []string{"", "0"} {
			lists := 0
			f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) {
				lists++
				return ListOf(version, "", NamespaceAt("a", "2")), nil
			})
			before := len(f.asked("watch"))
			stop := f.start()
			assert.Len(f, f.store.State(), 2, "at %q: the initial events complete the list", version)
			assert.Equal(f, version, f.LastSyncResourceVersion(), "initial events are in no order")
			modified := f.source.Modify(informertest.Namespace("a")).ResourceVersion
			f.pass(0)
			assert.Equal(f, modified, f.LastSyncResourceVersion(), "at %q: a change is in order", version)
			added := f.add("c" + version).ResourceVersion
			f.pass(2 * time.Second)
			assert.Equal(f, added, f.LastSyncResourceVersion(), "at %q: so is what follows it", version)
			assert.Equal(f, []string{version}, f.asked("watch")[before:])
			assert.Equal(f, 1, lists, "at %q: an open watch needs no second list", version)
			assert.Empty(f, f.errors)
			stop()
			f.source.Delete("c" + version)
		}
	}},
	{"what was deleted before a watch from no definite version is missing after its end", func(f *fixture) {
		moves := map[string]func(){
			"nothing":             func() {},
			"a change":            func() { f.source.Modify(informertest.Namespace("kept")) },
			"a deletion":          func() { f.source.Delete("other") },
			"a bookmark":          func() { f.source.SendBookmark() },
			"a bookmark and more": func() { f.source.SendBookmark(); f.add("more") },
		}
		ends := map[string]func(){
			"it ends":   func() { f.source.Cut(nil) },
			"it breaks": func() { f.source.Cut(syscall.ECONNRESET) },
			"overload":  func() { f.source.SendError(informertest.TooManyRequests(time.Second)) },
			"the next one is not answered": func() {
				f.source.FailWatch(syscall.ECONNREFUSED)
				f.source.Cut(syscall.ECONNRESET)
			},
		}
		for _, version := range []string{"", "0"} {
			for moved, move := range moves {
				for ended, end := range ends {
					f.add("kept")
					f.add("deleted")
					f.add("other")
					f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) {
						list := ListOf(version, "", slices.Collect(maps.Values(f.source.Objects()))...)
						f.source.Lose("deleted")
						return list, nil
					})
					stop := f.start()
					move() // after a change or a bookmark, the position is definite
					f.pass(2 * time.Second)
					require.Contains(f, f.store.State(), "deleted", "at %q: no event reports that it has gone", version)
					end()
					f.pass(someTime)
					in := fmt.Sprintf("at %q, %s, then %s", version, moved, ended)
					assert.NotContains(f, f.store.State(), "deleted", "%s: only a list shows that it went before", in)
					assert.Contains(f, f.store.State(), "kept", in)
					assert.Equal(f, 1, f.source.Watchers(), "%s: a watch follows the list", in)
					assert.Empty(f, f.errors, "%s: the end of a watch is no failure", in)
					stop()
				}
			}
		}
	}},
	{"an event at version 0 is applied, and the end of its watch is followed by a list", func(f *fixture) {
		f.add("kept")
		f.add("deleted")
		f.start()
		f.source.Send(api.WatchEvent[*api.Namespace]{
			Type: api.WatchModified, Object: NamespaceAt("kept", "0"), ResourceVersion: "0"})
		f.pass(2 * time.Second)
		f.source.Lose("deleted")
		f.source.Cut(nil)
		f.pass(someTime)
		assert.NotContains(f, f.store.State(), "deleted", "a watch from 0 does not say what was deleted before")
		assert.Contains(f, f.store.State(), "kept")
	}},
	{"an idle watch keeps no object in memory", func(f *fixture) {
		events := make(chan api.WatchEvent[*api.Namespace])
		f.config.ListerWatcher = Scripted{
			OnList: f.source.List,
			OnWatch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
				return &ChannelWatcher{ctx, events}, nil
			},
		}
		f.start()
		gone := NamespaceAt("gone", "8")
		object := weak.Make(gone)
		events <- api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: gone, ResourceVersion: "8"}
		events <- api.WatchEvent[*api.Namespace]{Type: api.WatchDeleted, Object: gone, ResourceVersion: "9"}
		f.pass(0)
		require.Equal(f, "9", f.LastSyncResourceVersion(), "a deletion moves the position")
		gone = nil
		runtime.GC()
		assert.Nil(f, object.Value())
	}},
	{"without streaming lists the state is listed", func(f *fixture) {
		f.config.DisableWatchList = false
		f.source.Change(func(b *informertest.Behaviour) { b.Streaming = informertest.StreamingRefused })
		f.add("a")
		f.start()
		assert.Len(f, f.asked("list"), 1)
		assert.False(f, f.Snapshot().StreamingList)
		assert.Equal(f, map[string]string{"a": "2"}, f.store.State())
	}},
}
