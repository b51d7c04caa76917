package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/informer/reflector"
	"orrery/internal/observe/trace"
	"orrery/internal/words"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient/api"
)

// startTeller returns the teller of a namespace and its recorder, which end with the test.
func startTeller(t *testing.T) (*trace.Recorder, *Teller) {
	recorder, err := trace.Start(trace.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { recorder.Stop("over") })
	teller := NewTeller(recorder, "delete", Words{})
	teller.Update(func(s *State) { s.Namespace.Name = "shop" })
	return recorder, teller
}

// withHooks runs a test in a bubble, with the hooks of a namespace controller whose story is told.
func withHooks(t *testing.T, run func(teller *Teller, hooks *nsctl.Trace, waits *queue.Trace[string])) {
	synctest.Test(t, func(t *testing.T) {
		recorder, teller := startTeller(t)
		run(teller, recorder.Namespaces(), recorder.Queue(NamespaceQueue))
	})
}

// texts returns the words of all beats.
func texts(teller *Teller) (all []string) {
	for _, beat := range teller.State().Beats {
		all = append(all, string(beat.Who)+": "+beat.Text)
	}
	return all
}

func status(code int, message string) error {
	return api.NewStatusError(api.Status{Status: api.StatusFailure, Code: code, Message: message})
}

// A failure is reported in the server's words, and a repeated one only by its delay. The deletions
// of other namespaces are not told.
func TestFailuresAreTold(t *testing.T) {
	withHooks(t, func(teller *Teller, hooks *nsctl.Trace, waits *queue.Trace[string]) {
		hooks.PassStarted("other")
		hooks.Finalized("other", nil)
		waits.Delayed(queue.Event[string]{Key: "other"}, time.Second)
		for n := 1; n <= 2; n++ {
			waits.Got(queue.Event[string]{Key: "shop", Seq: uint64(n)}, 0)
			hooks.PassStarted("shop")
			hooks.TypeDeleted("shop", api.PodsResource, 0, status(403, "no"))
			waits.Retried("shop", n, 5*time.Millisecond)
			hooks.PassDone("shop", time.Millisecond, n, errors.New("it does not work"))
		}
		hooks.ConditionsFailed("shop", status(403, "no reports"))
		hooks.ConditionsFailed("shop", status(404, "gone"))
		hooks.Finalized("shop", status(500, "broken"))
		assert.Equal(t, []string{
			"worker: takes shop from the queue: pass 1 begins",
			"deleter: pods: Forbidden: no",
			"queue: AddRateLimited(shop): failure 1, retry in 5ms",
			"worker: pass 1 fails: it does not work. The delay doubles with each failure",
			"queue: AddRateLimited(shop): failure 2, retry in 5ms",
			"deleter: cannot update the status: Forbidden: no reports; the deletion goes on",
			"deleter: cannot finalize shop: InternalError: broken",
		}, texts(teller))
	})
}

// Of several delays of a namespace the earliest counts, and the countdown shows it.
func TestTheEarliestDelayCounts(t *testing.T) {
	withHooks(t, func(teller *Teller, hooks *nsctl.Trace, waits *queue.Trace[string]) {
		seq := uint64(0)
		shop := func() queue.Event[string] { seq++; return queue.Event[string]{Key: "shop", Seq: seq} }
		waits.Added(shop())
		waits.Got(shop(), 0)
		hooks.PassStarted("shop")
		waits.Delayed(shop(), 8*time.Second)
		hooks.PassDone("shop", time.Second, 0, &nsctl.ResourcesRemainingError{Estimate: 15})
		waits.Done(shop(), time.Second)
		assert.Equal(t, 8*time.Second, teller.State().Left())
		time.Sleep(time.Second)
		waits.Delayed(shop(), 5*time.Second)
		assert.Equal(t, 5*time.Second, teller.State().Left())
		waits.Delayed(shop(), 5*time.Second)
		time.Sleep(5 * time.Second)
		waits.DelayEnded(shop(), 0)
		assert.Zero(t, teller.State().Left())
		assert.Equal(t, []string{
			"worker: takes shop from the queue: pass 1 begins",
			"queue: AddAfter: shop is delayed by 8s",
			"worker: pass 1 ends after 1s: some content remains in the namespace, estimate 15 seconds before it " +
				"is removed",
			"queue: AddAfter: shop is delayed by 5s",
			"queue: the delay of shop is over: it is ready for a worker",
		}, texts(teller))
		g := teller.State().Gears
		assert.Equal(t, [3]int{1, 1, 0}, [3]int{g.Adds, g.Passes, g.Busy}, "the counters are those of the recording")
	})
}

// A watch that was stopped has not failed. Only the first of two equal events of a key is told.
func TestWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder, teller := startTeller(t)
		hooks := recorder.Reflector("namespaces")
		for range 2 {
			hooks.Event(reflector.EventInfo{Type: api.WatchModified, Name: "shop", ResourceVersion: "7"})
		}
		hooks.WatchEnded(reflector.WatchInfo{ResourceVersion: "7"})
		hooks.WatchEnded(reflector.WatchInfo{ResourceVersion: "8", Err: io.EOF})
		assert.Equal(t, []string{
			"reflector: namespaces: watch event MODIFIED shop, resourceVersion 7",
			"reflector: namespaces: the watch ended at resourceVersion 8: the connection was closed",
		}, texts(teller))
	})
}

func TestANamespaceIsCreatedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder, teller := startTeller(t)
		stored, hooks := recorder.Store("namespaces"), recorder.Namespaces()
		phase := func() string { return teller.State().Namespace.Phase }
		stored.Added("shop")
		hooks.PassStarted("shop")
		assert.Equal(t, "Terminating", phase())
		hooks.Gone("shop", time.Second)
		stored.Deleted("shop")
		assert.Equal(t, Gone, phase())
		stored.Added("shop")
		assert.Equal(t, "Active", phase(), "a namespace of the name of one that is gone is not being deleted")
	})
}

func TestEnter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, teller := startTeller(t)
		teller.Update(func(s *State) { s.Enter("it goes on", 5*time.Second) })
		time.Sleep(2 * time.Second)
		state := teller.State()
		assert.Equal(t, "it goes on", state.Now)
		assert.Equal(t, 3*time.Second, state.Left())
	})
}

// A copy of the state does not change.
func TestStatesAreCopies(t *testing.T) {
	_, teller := startTeller(t)
	teller.Update(func(s *State) {
		s.Types = append(s.Types, Type{Name: "pods", Left: 1})
		s.Lines = append(s.Lines, Type{Name: "waits", Left: 1})
	})
	before := teller.State()
	teller.Update(func(s *State) {
		s.Types[0].Left, s.Lines[0].Left = 2, 2
		s.Tell(You, "more")
	})
	assert.Equal(t, 1, before.Types[0].Left+before.Lines[0].Left-1)
	assert.Empty(t, before.Beats)
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, teller := startTeller(t)
		beats := func(n int) func(*State) bool {
			return func(s *State) bool { return len(s.Beats) >= n }
		}
		require.NoError(t, teller.Await(t.Context(), beats(0)))
		done := make(chan error, 2)
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go func() { done <- teller.Await(ctx, beats(3)) }()
		}
		for range 3 {
			synctest.Wait()
			assert.Empty(t, done)
			teller.Tell(You, "more")
		}
		assert.NoError(t, <-done)
		assert.NoError(t, <-done)
		go func() { done <- teller.Await(ctx, beats(4)) }()
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestAnEventWakesAwait(t *testing.T) {
	withHooks(t, func(teller *Teller, _ *nsctl.Trace, waits *queue.Trace[string]) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		time.AfterFunc(time.Second, func() { waits.Added(queue.Event[string]{Key: "shop", Seq: 1}) })
		added := func(s *State) bool { return s.Gears.Adds == 1 }
		assert.NoError(t, teller.Await(ctx, added), "nothing but the recorder tells of it")
	})
}

func TestBar(t *testing.T) {
	for part, want := range map[int]string{0: "░░░░", 1: "█░░░", 50: "██░░", 51: "███░", 100: "████", 120: "████", -1: "░░░░"} {
		assert.Equal(t, want, Bar(part, 100, 4), part)
	}
	assert.Equal(t, "░░░░", Bar(3, 0, 4), "nothing is a part of nothing")
}

// Both languages have all sentences of events, and the same fields in each.
func TestBothLanguagesHaveTheSameFields(t *testing.T) {
	fields := regexp.MustCompile(`\{\w+\}`)
	for _, rows := range sentences() {
		for _, row := range rows {
			assert.True(t, row.Complete(), row)
			assert.ElementsMatch(t, fields.FindAllString(row.English, -1), fields.FindAllString(row.Chinese, -1), row)
		}
	}
}

// Both languages have all formats, and each takes the arguments of the English one: neither more
// nor less.
func TestNarrationIsFormatted(t *testing.T) {
	values := map[byte]any{'d': 1, 'f': 1.5, 't': true, 's': "text", 'q': "text", 'v': "text"}
	verb, index := regexp.MustCompile(`%[-.\d]*[a-z]`), regexp.MustCompile(`\[\d\]`)
	verbs := func(text string) []string { return verb.FindAllString(index.ReplaceAllString(text, ""), -1) }
	var rows []words.Text
	assert.NoError(t, yaml.Unmarshal(narration, &rows))
	for _, row := range rows {
		assert.True(t, row.Complete(), row)
		assert.ElementsMatch(t, verbs(row.English), verbs(row.Chinese), row)
		var args []any
		for _, verb := range verbs(row.English) {
			args = append(args, values[verb[len(verb)-1]])
		}
		for _, format := range []string{row.English, row.Chinese} {
			assert.NotContains(t, fmt.Sprintf(format, args...), "%!", format)
		}
	}
}
