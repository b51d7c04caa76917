package stage

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/demo/story"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient/api"
)

// texts returns the words of all beats.
func texts(teller *story.Teller) (all []string) {
	for _, beat := range teller.State().Beats {
		all = append(all, string(beat.Who)+": "+beat.Text)
	}
	return all
}

func status(code int, message string) error {
	return api.NewStatusError(api.Status{Status: api.StatusFailure, Code: code, Message: message})
}

// A failure is reported in the server's words, and a repeated one in short.
func TestFailuresAreShown(t *testing.T) {
	teller := story.New("", "", "")
	n := newNarrator(teller)
	hooks, waits := n.trace(), n.queueTrace()
	fail := func() {
		hooks.PassStarted(Namespace)
		hooks.TypeDeleted(Namespace, core("pods"), 0, status(403, "no"))
		waits.Retried(Namespace, 1, 5*time.Millisecond)
		hooks.PassDone(Namespace, time.Millisecond, 1, errors.New("it does not work"))
	}
	fail()
	fail()
	hooks.ConditionsFailed(Namespace, status(403, "no reports"))
	hooks.ConditionsFailed(Namespace, status(404, "gone"))
	hooks.Finalized(Namespace, status(500, "broken"))
	assert.Equal(t, []string{
		"worker: takes shop from the queue: pass 1 begins",
		"deleter: pods: 403 no",
		"worker: pass 1 fails: it does not work. AddRateLimited: retry in 5ms; the delay doubles with each failure",
		"worker: pass 2 fails for the same reason; AddRateLimited: retry in 5ms",
		"deleter: cannot update the status: 403 no reports; the deletion goes on",
		"deleter: cannot finalize shop: 500 broken",
	}, texts(teller))
	assert.Equal(t, 2, teller.State().Gears.Failures)
}

// The deletions of other namespaces are not reported.
func TestOtherNamespacesAreNotShown(t *testing.T) {
	teller := story.New("", "", "")
	n := newNarrator(teller)
	n.trace().PassStarted("other")
	n.trace().Finalized("other", nil)
	n.queueTrace().Added(queue.Event[string]{Key: "other"})
	assert.Empty(t, texts(teller))
	assert.Zero(t, teller.State().Gears)
}

// Of several delays of a namespace the earliest counts, and the countdown shows it.
func TestTheEarliestTimeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		teller := story.New("", "", "")
		n := newNarrator(teller)
		hooks, waits := n.trace(), n.queueTrace()
		shop := queue.Event[string]{Key: Namespace}
		hooks.PassStarted(Namespace)
		waits.Got(shop, 0)
		waits.Delayed(shop, 8*time.Second)
		hooks.PassDone(Namespace, time.Second, 0, &nsctl.ResourcesRemainingError{Estimate: 15})
		waits.Done(shop, time.Second)
		assert.Equal(t, 8*time.Second, teller.State().Left())
		time.Sleep(time.Second)
		waits.Delayed(shop, 5*time.Second)
		assert.Equal(t, 5*time.Second, teller.State().Left())
		waits.Delayed(shop, 5*time.Second)
		time.Sleep(5 * time.Second)
		waits.DelayEnded(shop, 0)
		assert.Zero(t, teller.State().Left())
		assert.Equal(t, []string{
			"worker: takes shop from the queue: pass 1 begins",
			"queue: AddAfter: shop is delayed by 8s",
			"worker: pass 1 ends after 1s: content remains, for an estimated 15 s; the next pass is due in 8s",
			"queue: AddAfter: shop is delayed by 5s",
			"queue: the delay of shop is over: it is ready for a worker",
		}, texts(teller))
	})
}

func TestReasons(t *testing.T) {
	assert.Equal(t, "the connection was closed", reason(fmt.Errorf("watch: %w", io.EOF)))
	assert.Equal(t, "something else", reason(errors.New("something else")))
}

func TestShort(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"1m5s": 65*time.Second + 300*time.Millisecond, "5.1s": 5*time.Second + 120*time.Millisecond,
		"120ms": 120*time.Millisecond + 400*time.Microsecond, "2.3ms": 2*time.Millisecond + 340*time.Microsecond,
	} {
		assert.Equal(t, want, short(d))
	}
}

// Any number of objects gives at least one of each type; the sum is exact where it can be.
func TestNumbers(t *testing.T) {
	for _, objects := range []int{1, 10, 11, 60, 320, 20_000} {
		sum := 0
		for _, n := range numbers(objects) {
			assert.Positive(t, n)
			sum += n
		}
		assert.Equal(t, max(objects, len(content)), sum)
	}
}

// An event is followed to the handlers, although the next one is queued before it is there.
func TestTheNextEventDoesNotEndAFollowedOne(t *testing.T) {
	teller := story.New("", "", "")
	v := newVoice(teller, "namespaces", Namespace)
	distribute := func(kind informer.EventKind) {
		teller.Update(func(s *story.State) { v.distributed(s, kind, Namespace, 2) })
	}
	v.queued(deltafifo.Added, false)
	v.popped([]deltafifo.DeltaType{deltafifo.Added})
	distribute(informer.EventAdd)
	v.queued(deltafifo.Deleted, false)
	v.popped([]deltafifo.DeltaType{deltafifo.Deleted})
	v.queued(deltafifo.Added, false) // the namespace is created again
	distribute(informer.EventDelete)
	v.popped([]deltafifo.DeltaType{deltafifo.Added})
	distribute(informer.EventAdd)

	v.queued(deltafifo.Updated, false)
	v.queued(deltafifo.Added, false) // not followed
	v.popped([]deltafifo.DeltaType{deltafifo.Added})
	assert.Equal(t, 0, howMany(teller, "shop: popped with 1 delta: Updated"), "it waits, another one was popped")
	v.popped([]deltafifo.DeltaType{deltafifo.Updated})
	assert.Equal(t, 1, howMany(teller, "shop: popped with 1 delta: Updated"),
		"it is followed although another one was popped before")

	assert.Equal(t, 1, howMany(teller, "the store has removed shop"), "the deletion is told of")
	assert.Equal(t, 1, howMany(teller, "the store has the new state of shop"), "the second addition is not followed")
}

func TestAWatchThatWasStoppedHasNotFailed(t *testing.T) {
	teller := story.New("", "", "")
	m := &meter{teller: teller}
	hooks := newVoice(teller, "namespaces", Namespace).reflector(m.reflector())
	hooks.WatchEnded(reflector.WatchInfo{ResourceVersion: "7"})
	assert.Empty(t, texts(teller), "a watch that was stopped is not told of")
	hooks.WatchEnded(reflector.WatchInfo{ResourceVersion: "8", Err: io.EOF})
	assert.Equal(t, 1, howMany(teller, "the watch ended at resourceVersion 8: the connection was closed"))
	assert.Equal(t, 2, teller.State().Gears.WatchesEnded, "both are counted")
}

// howMany counts the beats with these words.
func howMany(teller *story.Teller, words string) (n int) {
	for _, text := range texts(teller) {
		if strings.Contains(text, words) {
			n++
		}
	}
	return n
}
