package machine_test

import (
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

// TestTheStoreConverges lets a source change and misbehave in every way that informertest
// supports, then behave for a while. Whatever happened, the store must equal the source, the
// machine must watch, and the versions of a Replace must not decrease.
func TestTheStoreConverges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(rapid.Custom(drawStep), 1, 60).Draw(rt, "script")
		streaming := rapid.Bool().Draw(rt, "streaming")
		paging := rapid.Bool().Draw(rt, "paging")
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.config.DisableWatchList, f.config.KeyFunc = !streaming, nameOf
			f.config.PageSize = 3
			f.config.ResyncPeriod = 7 * time.Minute
			f.source.SetPaging(paging)
			stop := f.run()
			for _, s := range script {
				s.play(f.source)
				time.Sleep(s.wait)
			}
			f.source.ClearFaults()
			f.source.SetStreamingList(informertest.StreamingSupported)
			f.source.SetLatency(0)
			time.Sleep(15 * time.Minute) // longer than any idle timeout, back-off and deadline together
			synctest.Wait()
			assert.Equal(t, reflectortest.Versions(f.source.Objects()), f.store.State())
			shot := f.Snapshot()
			assert.Equal(t, reflector.PhaseWatching, shot.Phase)
			assert.Equal(t, 1, f.source.Watchers())
			f.source.Add(informertest.Namespace("last"))
			synctest.Wait()
			assert.Contains(t, f.store.State(), "last")
			assertAscending(t, f.store.Replaced())
			stop()
			assert.Zero(t, f.source.Watchers())
		})
		require.False(rt, t.Failed())
	})
}

func assertAscending(t *testing.T, versions []string) {
	last := 0
	for _, v := range versions {
		var n int
		_, err := fmt.Sscan(v, &n)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, n, last, "time ran backwards: %v", versions)
		last = n
	}
}

// scriptStep is a fault or change of a source and the pause after it.
type scriptStep struct {
	what string
	name string
	wait time.Duration
}

func drawStep(t *rapid.T) scriptStep {
	return scriptStep{
		what: rapid.SampledFrom([]string{
			"add", "add", "add", "modify", "modify", "delete", "bump", "bookmark", "expire", "cut", "reset", "silence", "outage",
			"error 410", "error 429", "error 500", "garbage", "fail list", "fail watch", "fail page", "refuse", "ignore", "no bookmark", "slow",
		}).Draw(t, "what"),
		name: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"}).Draw(t, "name"),
		wait: rapid.SampledFrom([]time.Duration{0, 0, 0, 500 * time.Millisecond, 2 * time.Second, 20 * time.Second, 4 * time.Minute}).Draw(t, "wait"),
	}
}

func (s scriptStep) play(source *informertest.FakeSource[*api.Namespace]) {
	switch s.what {
	case "add":
		source.Add(informertest.Namespace(s.name))
	case "modify":
		if _, found := source.Objects()[s.name]; found {
			source.Modify(informertest.Namespace(s.name))
		}
	case "delete":
		source.Delete(s.name)
	case "bump":
		source.AdvanceVersion()
	case "bookmark":
		source.SendBookmark()
	case "expire":
		source.Expire()
	case "cut":
		source.Cut(nil)
	case "reset":
		source.Cut(syscall.ECONNRESET)
	case "silence":
		source.Silence()
	case "outage": // the connection is lost, an object vanishes, and the history with it
		source.Silence()
		source.Lose(s.name)
		source.Expire()
	case "error 410":
		source.SendError(informertest.Expired("too old"))
	case "error 429":
		source.SendError(informertest.TooManyRequests(time.Minute))
	case "error 500":
		source.SendError(informertest.StatusError(500, "", "oops"))
	case "garbage":
		source.Cut(assert.AnError)
	case "fail list":
		source.FailList(assert.AnError, informertest.Expired("too old"), syscall.ECONNREFUSED)
	case "fail page":
		source.FailList(nil, informertest.Expired("token too old"))
	case "fail watch":
		source.FailWatch(informertest.TooLargeResourceVersion(9, 1), syscall.ECONNREFUSED, informertest.TooManyRequests(0), assert.AnError)
	case "refuse":
		source.SetStreamingList(informertest.StreamingRefused)
	case "ignore":
		source.SetStreamingList(informertest.StreamingIgnored)
	case "no bookmark":
		source.SetStreamingList(informertest.StreamingWithoutBookmark)
	case "slow":
		source.SetLatency(700 * time.Millisecond)
	}
}
