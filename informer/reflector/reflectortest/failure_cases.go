package reflectortest

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// failureCases are those that end in a new list.
var failureCases = []suiteCase{
	{"a back-off comes before the new list", func(f *fixture) {
		f.start()
		for _, failure := range []*api.StatusError{
			informertest.StatusError(403, api.ReasonForbidden, "no"), informertest.Expired("too old"),
			informertest.StatusError(500, api.ReasonInternalError, "oops"),
		} {
			lists := len(f.requests("list"))
			f.source.SendError(failure)
			f.pass(0)
			assert.Equal(f, reflector.PhaseBackingOff.String(), f.Snapshot().Phase.String(),
				"after %d, a back-off comes first", failure.Status.Code)
			assert.Len(f, f.asked("list"), lists, "after %d, want no new list without a back-off", failure.Status.Code)
			f.pass(time.Minute)
			assert.Len(f, f.asked("list"), lists+1, "after %d and the back-off, want one new list", failure.Status.Code)
		}
	}},
	// The history of a watch has expired, not the version: any list that is not older will do, and the
	// server has one in memory. After its restart every client gets a 410 at the same time.
	{"410 Gone on a watch leads to a list that is not older than the position", func(f *fixture) {
		f.add("kept")
		f.add("lost")
		var expired []string
		f.config.Trace = &reflector.Trace{Expired: func(rv string, _ error) { expired = append(expired, rv) }}
		f.start()
		f.source.Lose("lost")
		f.source.Expire()
		f.source.SendError(informertest.Expired("too old resource version"))
		f.pass(0)
		assert.False(f, f.Snapshot().ResourceVersionRefused, "a 410 on a watch does not refuse a list at the version")
		f.pass(someTime)
		assert.Equal(f, map[string]string{"kept": "2"}, f.store.State(), "the new list lacks the object deleted unseen")
		assert.Equal(f, []string{"0", "3"}, f.asked("list"), "the list after a 410 on a watch is at the last version")
		assert.Equal(f, []string{"3", "4"}, f.asked("watch"), "the next watch begins at the version of the new list")
		assert.Equal(f, []string{"3"}, expired, "Trace.Expired reports the expired version")
		require.Len(f, f.errors, 1)
		var stream *reflector.StreamError
		assert.ErrorAs(f, f.errors[0], &stream)
		assert.Equal(f, reflector.CauseExpired, reflector.CauseOf(f.errors[0]))

		// The same as the answer to the watch request.
		f.pass(someTime)
		f.source.AdvanceVersion()
		f.source.Expire()
		f.source.Cut(nil)
		f.pass(someTime)
		assert.Equal(f, []string{"0", "3", "4"}, f.asked("list"), "the list after a 410 to a request is, too")
		assert.Equal(f, []string{"3", "4"}, expired, "Trace.Expired reports the expired version")
		var opening *reflector.WatchStartError
		require.Len(f, f.errors, 2)
		assert.ErrorAs(f, f.errors[1], &opening)
	}},
	{"a version that is too large for a watch leads to a list at this version", func(f *fixture) {
		f.add("a")
		f.start()
		f.pass(2 * time.Second)
		f.source.FailWatch(informertest.TooLargeResourceVersion(2, 1))
		f.source.Cut(nil)
		f.pass(someTime)
		assert.Equal(f, []string{"0", "2"}, f.asked("list"), "only a list that is refused leads to a consistent read")
	}},
	{"a list that is refused after a 410 on the watch is repeated at once as a consistent read", func(f *fixture) {
		f.add("a")
		f.start()
		f.source.FailList(informertest.Expired("too old"))
		f.source.SendError(informertest.Expired("too old"))
		f.pass(someTime)
		assert.Equal(f, []string{"0", "2", ""}, f.asked("list"), "the version is refused by the watch and by the list")
		f.source.SendError(informertest.Expired("too old"))
		f.pass(someTime)
		assert.Equal(f, []string{"0", "2", "", "2"}, f.asked("list"), "the refusal ends with the next list")
	}},
	{"a list after another failure is not older than the position", func(f *fixture) {
		f.add("a")
		f.start()
		f.add("b")
		f.source.SendError(informertest.StatusError(500, api.ReasonInternalError, "oops"))
		f.pass(someTime)
		assert.Equal(f, []string{"0", "3"}, f.asked("list"))
		require.Len(f, f.errors, 1)
		assert.Equal(f, reflector.CauseInternal, reflector.CauseOf(f.errors[0]))
	}},
	{"the page size depends on the version", func(f *fixture) {
		f.add("a")
		f.start()
		require.Len(f, f.asked("list"), 1)
		assert.EqualValues(f, reflector.PageSize, f.requests("list")[0].Options.Limit)
		f.source.FailList(informertest.Expired("too old"))
		f.source.SendError(informertest.StatusError(500, api.ReasonInternalError, "oops"))
		f.pass(someTime)
		require.Equal(f, []string{"0", "2", ""}, f.asked("list"))
		assert.Zero(f, f.requests("list")[1].Options.Limit,
			"a list at a known version comes from the server's cache as a whole")
		assert.EqualValues(f, reflector.PageSize, f.requests("list")[2].Options.Limit,
			"a consistent read comes in pages")
	}},
	// A server reads a limited list at a version as that version itself, unless the request says
	// otherwise. A watch whose history has expired then expires again and again.
	{"pages of a given size are not older than the position, and not the position itself", func(f *fixture) {
		f.config.PageSize = 7
		f.add("a")
		f.start()
		f.source.SendError(informertest.Expired("too old"))
		f.pass(someTime)
		require.Equal(f, []string{"0", "2"}, f.asked("list"))
		assert.Empty(f, f.requests("list")[0].Options.ResourceVersionMatch)
		assert.EqualValues(f, 7, f.requests("list")[1].Options.Limit)
		assert.Equal(f, api.MatchNotOlderThan, f.requests("list")[1].Options.ResourceVersionMatch)
	}},
	{"a watch that cannot be opened leads to a list", func(f *fixture) {
		f.source.FailWatch(informertest.StatusError(403, api.ReasonForbidden, "no"))
		f.start()
		f.pass(someTime)
		assert.Len(f, f.asked("list"), 2)
		assert.Equal(f, reflector.PhaseWatching, f.Snapshot().Phase)
		require.Len(f, f.errors, 1)
		assert.True(f, api.IsForbidden(f.errors[0]))
	}},
	{"watches that end at once are not opened in a busy loop", func(f *fixture) {
		type namespaceEvent = api.WatchEvent[*api.Namespace]
		expired := namespaceEvent{Type: api.WatchError, Status: &api.Status{Code: 410, Reason: api.ReasonExpired}}
		bookmark := func(rv string) namespaceEvent {
			return namespaceEvent{Type: api.WatchBookmark, ResourceVersion: rv}
		}
		for name, events := range map[string]func(number string) []namespaceEvent{
			"after nothing": func(string) []namespaceEvent { return nil },
			"after the same event": func(string) []namespaceEvent {
				return []namespaceEvent{Event(api.WatchAdded, "a", "x2")}
			},
			"after the same bookmark": func(string) []namespaceEvent { return []namespaceEvent{bookmark("x1")} },
			"after an event without a version": func(string) []namespaceEvent {
				return []namespaceEvent{Event(api.WatchModified, "a", "")}
			},
			"after a new bookmark": func(n string) []namespaceEvent { return []namespaceEvent{bookmark(n)} },
			"after a new event": func(n string) []namespaceEvent {
				return []namespaceEvent{Event(api.WatchModified, "a", n)}
			},
			"with a 410": func(string) []namespaceEvent { return []namespaceEvent{expired} },
			"with a 410 after a new event": func(n string) []namespaceEvent {
				return []namespaceEvent{Event(api.WatchModified, "a", n), expired}
			},
		} {
			for _, version := range []string{"x1", "1", "0", ""} {
				watches := 0
				f.config.ListerWatcher = Scripted{
					OnList: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
						return ListOf(version, "", NamespaceAt("a", "x1")), nil
					},
					OnWatch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
						if watches++; watches > 500 {
							<-ctx.Done() // enough is known
						}
						return &briefWatcher{events(strconv.Itoa(watches))}, nil
					},
				}
				f.errors = nil
				stop := f.start()
				during, most := time.Minute, 100
				if name == "after nothing" {
					during, most = 10*time.Minute, 50
				}
				f.pass(during)
				stop()
				if name == "after nothing" && version == "1" { // the position may be at fault
					require.NotEmpty(f, f.errors)
					assert.ErrorIs(f, f.errors[0], reflector.ErrVeryShortWatch)
				}
				assert.Less(f, watches, most, "%s, after a list at %q: want a back-off", name, version)
				assert.Greater(f, watches, 2, "%s, after a list at %q: want another attempt", name, version)
			}
		}
	}},
	{"a watch of exactly a second without an event is not very short", func(f *fixture) {
		f.start()
		f.pass(reflector.VeryShortWatch)
		f.source.Cut(nil)
		f.pass(0)
		assert.Len(f, f.asked("list"), 1, "a watch that lasted VeryShortWatch counts as a success")
		assert.Len(f, f.asked("watch"), 2)
		assert.Empty(f, f.errors)
	}},
	{"a short watch with an event is not very short", func(f *fixture) {
		f.start()
		f.add("a")
		f.source.Cut(nil)
		f.pass(0)
		assert.Len(f, f.asked("watch"), 2, "want a second watch at once: the first one had delivered an event")
		assert.Empty(f, f.errors)
	}},
	{"each failed round is reported once", func(f *fixture) {
		f.source.FailList(syscall.ECONNREFUSED, errors.New("unintelligible"))
		f.start()
		f.pass(time.Minute)
		require.Len(f, f.errors, 2)
		for _, err := range f.errors {
			var list *reflector.ListError
			require.ErrorAs(f, err, &list)
			assert.Equal(f, "namespaces", list.Name)
			assert.Equal(f, 1, list.Page)
		}
		assert.True(f, f.Snapshot().Synced, wantSynced)
	}},
	// Defect 8.4 of client-go: its back-off restarts every two minutes, healthy or not.
	{"the back-off grows during an outage", func(f *fixture) {
		delays := f.delays()
		f.config.Backoff = reflector.BackoffConfig{}
		f.start()
		f.source.FailWatch(slices.Repeat([]error{syscall.ECONNREFUSED}, 200)...)
		f.source.FailList(slices.Repeat([]error{syscall.ECONNREFUSED}, 200)...)
		f.pass(time.Minute) // a healthy watch, followed by the outage
		f.source.Cut(syscall.ECONNRESET)
		f.pass(30 * time.Minute)
		require.Greater(f, len(*delays), 30)
		assert.Less(f, len(*delays), 70)
		least := 800 * time.Millisecond
		for i, d := range *delays {
			assert.GreaterOrEqual(f, d, least-time.Millisecond, "attempt %d", i)
			assert.LessOrEqual(f, d, 2*least+time.Millisecond, "attempt %d", i)
			least = min(2*least, 30*time.Second)
		}
		assert.Equal(f, len(*delays), f.Snapshot().Failures)
	}},
	{"the back-off restarts after a success", func(f *fixture) {
		delays := f.delays()
		refuse := func() {
			f.source.FailWatch(syscall.ECONNREFUSED, syscall.ECONNREFUSED, syscall.ECONNREFUSED)
			f.source.Cut(nil)
		}
		f.start()
		f.pass(2 * time.Second) // neither an event nor ten seconds: no success
		refuse()
		f.pass(6 * time.Second)
		f.add("a") // an event: success
		f.pass(0)
		refuse()
		f.pass(17 * time.Second) // ten seconds of a watch: success
		refuse()
		f.pass(time.Minute)
		grow := []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond}
		assert.Equal(f, append(append(slices.Clone(grow), grow...), grow...), *delays,
			"an event, and ten seconds of a watch, each reset the back-off")
	}},
	{"a successful list does not reset the back-off", func(f *fixture) {
		delays := f.delays()
		f.source.FailWatch(slices.Repeat([]error{informertest.StatusError(403, api.ReasonForbidden, "no")}, 4)...)
		f.start()
		f.pass(time.Minute)
		assert.Equal(f, []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond,
			6400 * time.Millisecond}, *delays)
	}},
	{"a store that refuses one object still gets the others", func(f *fixture) {
		var reported []*reflector.StoreError
		f.config.Trace = &reflector.Trace{StoreFailed: func(err *reflector.StoreError) {
			reported = append(reported,
				err)
		}}
		f.failNext("Add")
		f.start()
		f.add("refused")
		f.pass(0)
		assert.Equal(f, "2", f.LastSyncResourceVersion(), "the position moves even if the store refuses the object")
		f.add("taken")
		f.pass(0)
		assert.Equal(f, map[string]string{"taken": "3"}, f.store.State())
		assert.Len(f, f.asked("watch"), 1, "the stream continues")
		require.Len(f, reported, 1, "Trace.StoreFailed reports the refusal")
		assert.Equal(f, reflector.OpAdd, reported[0].Op)
		assert.Equal(f, "2", reported[0].ResourceVersion)
		assert.Same(f, reported[0], f.Snapshot().LastStoreError)

		f.failNext("Update", "Delete")
		f.source.Modify(informertest.Namespace("taken"))
		f.pass(0)
		assert.Equal(f, "4", f.LastSyncResourceVersion(), "the position moves even if the store refuses an update")
		f.source.Delete("taken")
		f.pass(0)
		assert.Equal(f, "5", f.LastSyncResourceVersion(), "the position moves even if the store refuses a deletion")
		assert.Len(f, f.asked("watch"), 1, "the stream continues")
		assert.Len(f, reported, 3)
		assert.Empty(f, f.errors)
	}},
	{"an ERROR event without a status is a failure", func(f *fixture) {
		f.start()
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchError})
		f.pass(0)
		assert.ErrorContains(f, f.Snapshot().LastError, "an ERROR event without a status")
	}},
}

// delays returns a slice that receives the lengths of the back-offs.
func (f *fixture) delays() *[]time.Duration {
	var delays []time.Duration
	f.config.Trace = &reflector.Trace{BackOff: func(d time.Duration, _ error) { delays = append(delays, d) }}
	return &delays
}

// briefWatcher delivers some events and ends.
type briefWatcher struct {
	events []api.WatchEvent[*api.Namespace]
}

func (w *briefWatcher) Next() (event api.WatchEvent[*api.Namespace], err error) {
	if len(w.events) == 0 {
		return event, io.EOF
	}
	event, w.events = w.events[0], w.events[1:]
	return event, nil
}

func (w *briefWatcher) Stop() {}
