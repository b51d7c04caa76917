package demo

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/reflector"
	"orrery/internal/observe/trace"
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
