package reflectortest

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// failureCases are those in which everything is listed again.
var failureCases = []suiteCase{
	{"410 Gone leads to a consistent read", "", func(f *fixture) {
		f.add("kept")
		f.add("lost")
		var expired []string
		f.config.Trace = &reflector.Trace{Expired: func(rv string, _ error) { expired = append(expired, rv) }}
		f.start()
		f.source.Lose("lost")
		f.source.Expire()
		f.source.SendError(informertest.Expired("too old resource version"))
		f.pass(0)
		assert.True(f, f.Snapshot().ResourceVersionRefused, "the reflector does not remember that its version was refused")
		f.pass(someTime)
		assert.Equal(f, map[string]string{"kept": "2"}, f.store.State(), "what was deleted unseen is missing from the new list")
		assert.Equal(f, []string{"0", ""}, f.asked("list"), "the list after 410 Gone is a consistent read")
		assert.Equal(f, []string{"3", "4"}, f.asked("watch"), "the refused version is not asked for again")
		assert.Equal(f, []string{"3"}, expired)
		require.Len(f, f.errors, 1)
		var stream *reflector.StreamError
		assert.ErrorAs(f, f.errors[0], &stream)
		assert.Equal(f, reflector.CauseExpired, reflector.CauseOf(f.errors[0]))
		assert.False(f, f.Snapshot().ResourceVersionRefused)

		// The same as the answer to the request.
		f.pass(someTime)
		f.source.Touch()
		f.source.Expire()
		f.source.Cut(nil)
		f.pass(someTime)
		assert.Equal(f, []string{"0", "", ""}, f.asked("list"))
		assert.Equal(f, []string{"3", "4"}, expired)
		var opening *reflector.WatchStartError
		require.Len(f, f.errors, 2)
		assert.ErrorAs(f, f.errors[1], &opening)
	}},
	{"a list after another failure is not older than the position", "", func(f *fixture) {
		f.add("a")
		f.start()
		f.add("b")
		f.source.SendError(informertest.StatusError(500, api.ReasonInternalError, "oops"))
		f.pass(someTime)
		assert.Equal(f, []string{"0", "3"}, f.asked("list"))
		require.Len(f, f.errors, 1)
		assert.Equal(f, reflector.CauseInternal, reflector.CauseOf(f.errors[0]))
	}},
	{"a watch that cannot be opened leads to a list", "", func(f *fixture) {
		f.source.FailWatch(informertest.StatusError(403, api.ReasonForbidden, "no"))
		f.start()
		f.pass(someTime)
		assert.Len(f, f.requests("list"), 2)
		assert.Equal(f, reflector.PhaseWatching, f.Snapshot().Phase)
		require.Len(f, f.errors, 1)
		assert.True(f, api.IsForbidden(f.errors[0]))
	}},
	{"a very short watch without an event leads to a list, and to no hot loop", "", func(f *fixture) {
		opened := 0
		f.config.Trace = &reflector.Trace{WatchStarted: func(api.ListOptions) {
			if opened++; opened < 1000 { // a hot loop would never let the time pass
				f.source.Cut(nil)
			}
		}}
		f.start()
		f.pass(10 * time.Minute)
		assert.Less(f, len(f.requests("watch")), 50)
		require.NotEmpty(f, f.errors)
		assert.ErrorIs(f, f.errors[0], reflector.ErrVeryShortWatch)
	}},
	{"a watch of exactly a second without an event is none", "", func(f *fixture) {
		f.start()
		f.pass(reflector.VeryShortWatch)
		f.source.Cut(nil)
		f.pass(0)
		assert.Len(f, f.requests("list"), 1, "a watch that lasted VeryShortWatch is believed")
		assert.Len(f, f.requests("watch"), 2)
		assert.Empty(f, f.errors)
	}},
	{"a short watch with an event is none", "", func(f *fixture) {
		f.start()
		f.add("a")
		f.source.Cut(nil)
		f.pass(0)
		assert.Len(f, f.requests("watch"), 2)
		assert.Empty(f, f.errors)
	}},
	{"each failed round is reported once", "", func(f *fixture) {
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
		assert.True(f, f.Snapshot().Synced)
	}},
	// Defect 8.4 of client-go: its back-off starts over two minutes after it did so last, healthy or not.
	{"the back-off grows during an outage", "", func(f *fixture) {
		delays := f.delays()
		f.config.Backoff = reflector.BackoffConfig{}
		f.start()
		f.source.FailWatch(slices.Repeat([]error{syscall.ECONNREFUSED}, 200)...)
		f.source.FailList(slices.Repeat([]error{syscall.ECONNREFUSED}, 200)...)
		f.pass(time.Minute) // a healthy watch, and then
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
	{"the back-off starts over after health", "", func(f *fixture) {
		delays := f.delays()
		refuse := func() {
			f.source.FailWatch(syscall.ECONNREFUSED, syscall.ECONNREFUSED, syscall.ECONNREFUSED)
			f.source.Cut(nil)
		}
		f.start()
		f.pass(2 * time.Second) // neither an event nor ten seconds: no health
		refuse()
		f.pass(6 * time.Second)
		f.add("a") // an event: health
		f.pass(0)
		refuse()
		f.pass(17 * time.Second) // ten seconds of a watch: health
		refuse()
		f.pass(time.Minute)
		grow := []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond}
		assert.Equal(f, append(append(slices.Clone(grow), grow...), grow...), *delays,
			"an event, and ten seconds of a watch, each reset the back-off")
	}},
	{"a list that succeeds is no health", "", func(f *fixture) {
		delays := f.delays()
		f.source.FailWatch(slices.Repeat([]error{informertest.StatusError(403, api.ReasonForbidden, "no")}, 4)...)
		f.start()
		f.pass(time.Minute)
		assert.Equal(f, []time.Duration{800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond, 6400 * time.Millisecond}, *delays)
	}},
	{"internal errors have a budget, which counts from the first of a series", InternalErrorBudget, func(f *fixture) {
		f.config.MaxInternalErrorRetryDuration = 10 * time.Second
		f.add("a")
		f.start()
		oops := func() { f.source.SendError(informertest.StatusError(500, api.ReasonInternalError, "oops")) }
		for range 2 { // after a minute without one the budget is full again
			lists := len(f.requests("list"))
			oops()
			f.pass(6 * time.Second)
			oops()
			f.pass(5 * time.Second)
			require.Len(f, f.requests("list"), lists, "within the budget the position is kept")
			oops() // 11 s after the first one, although 5 s after the last
			f.pass(40 * time.Second)
			require.Len(f, f.requests("list"), lists+1, "the budget counts from the first error of the series")
			f.pass(time.Minute)
		}
	}},
	{"a series of internal errors goes on while less than a minute is between two of them", InternalErrorBudget, func(f *fixture) {
		f.config.MaxInternalErrorRetryDuration = 100 * time.Second
		f.start()
		for range 4 {
			f.source.SendError(informertest.StatusError(500, api.ReasonInternalError, "oops"))
			f.pass(30 * time.Second)
		}
		require.Len(f, f.requests("list"), 1, "within the budget the position is kept")
		f.source.SendError(informertest.StatusError(500, api.ReasonInternalError, "oops"))
		f.pass(someTime)
		assert.Len(f, f.requests("list"), 2, "the budget is used up after 100 s, however the errors are spread")
	}},
	{"a store that fails to replace gets another list", "", func(f *fixture) {
		fails := 1
		f.store.OnCall = func(op string) error {
			if fails--; op == "Replace" && fails >= 0 {
				return errors.New("full")
			}
			return nil
		}
		f.add("a")
		f.start()
		assert.False(f, f.Snapshot().Synced)
		assert.Empty(f, f.LastSyncResourceVersion(), "the position moves when the state is in the store, and not before")
		require.Len(f, f.errors, 1)
		var failed *reflector.StoreError
		require.ErrorAs(f, f.errors[0], &failed)
		assert.Equal(f, reflector.OpReplace, failed.Op)
		f.pass(someTime)
		assert.Equal(f, map[string]string{"a": "2"}, f.store.State())
		assert.Equal(f, 1, f.Snapshot().StoreErrors)
	}},
	{"a store that refuses one object gets the others", "", func(f *fixture) {
		var told []*reflector.StoreError
		f.config.Trace = &reflector.Trace{StoreFailed: func(err *reflector.StoreError) { told = append(told, err) }}
		refused := map[string]bool{"Add": true}
		f.store.OnCall = func(op string) error {
			if refused[op] {
				delete(refused, op)
				return errors.New("no")
			}
			return nil
		}
		f.start()
		f.add("refused")
		f.add("taken")
		f.pass(0)
		assert.Equal(f, map[string]string{"taken": "3"}, f.store.State())
		assert.Len(f, f.requests("watch"), 1, "the stream goes on")
		require.Len(f, told, 1)
		assert.Equal(f, reflector.OpAdd, told[0].Op)
		assert.Equal(f, "2", told[0].ResourceVersion)
		assert.Same(f, told[0], f.Snapshot().LastStoreError)
		assert.Empty(f, f.errors)
	}},
	{"an ERROR event without a status is a failure", "", func(f *fixture) {
		f.start()
		f.source.Send(api.WatchEvent[*api.Namespace]{Type: api.WatchError})
		f.pass(0)
		assert.ErrorContains(f, f.Snapshot().LastError, "an ERROR event without a status")
	}},
}

// delays returns where the lengths of the back-offs are going to be.
func (f *fixture) delays() *[]time.Duration {
	var delays []time.Duration
	f.config.Trace = &reflector.Trace{BackOff: func(d time.Duration, _ error) { delays = append(delays, d) }}
	return &delays
}
