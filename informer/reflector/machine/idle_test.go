package machine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/reflectortest"
)

// withoutKeepalive runs a test with a Reflector whose connections have no keepalive, as with
// HTTP/1.1.
func withoutKeepalive(t *testing.T, configure func(f *fixture), test func(t *testing.T, f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.source.SetNoKeepalive(true)
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

// When a connection without keepalive dies, its watch is replaced within 45 seconds.
func TestEachDeadConnectionIsReplaced(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lifetimes := rapid.SliceOfN(rapid.IntRange(0, 200_000), 1, 8).Draw(rt, "milliseconds until the next connection dies")
		idle := 0
		withoutKeepalive(t, func(f *fixture) {
			f.config.Trace = &reflector.Trace{IdleTimeout: func(time.Duration) { idle++ }}
		}, func(t *testing.T, f *fixture) {
			for i, life := range lifetimes {
				time.Sleep(time.Duration(life) * time.Millisecond)
				synctest.Wait()
				f.source.Silence()
				missed := f.source.Modify(informertest.Namespace("a"))
				time.Sleep(45 * time.Second)
				synctest.Wait()
				require.Equal(t, i+1, idle)
				require.Equal(t, missed.ResourceVersion, f.store.State()["a"])
				time.Sleep(41 * time.Second)
			}
			require.Equal(t, 1, f.Snapshot().Lists)
		})
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
