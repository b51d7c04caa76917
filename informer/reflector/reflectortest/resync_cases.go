package reflectortest

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
)

var resyncCases = []suiteCase{
	{"the store resyncs every period, if it should", "", func(f *fixture) {
		var asked atomic.Int32
		var wanted atomic.Bool
		var traced []error
		f.config.ResyncPeriod = time.Minute
		f.config.ShouldResync = func() bool { asked.Add(1); return wanted.Load() }
		f.config.Trace = &reflector.Trace{Resync: func(err error) { traced = append(traced, err) }}
		f.start()
		f.pass(150 * time.Second)
		assert.EqualValues(f, 2, asked.Load(), "want ShouldResync asked twice in 150 s, with a period of 60 s")
		assert.Zero(f, f.store.Resynced(), "the store resynced although ShouldResync said no")
		wanted.Store(true)
		f.pass(time.Minute)
		assert.EqualValues(f, 3, asked.Load(), "want ShouldResync asked once in each period")
		assert.Equal(f, 1, f.store.Resynced(), "want one resync of the store when ShouldResync says yes")
		assert.Equal(f, []error{nil}, traced, "Trace.Resync reports the resync")
	}},
	{"without a period there is no resync", "", func(f *fixture) {
		f.start()
		f.pass(24 * time.Hour)
		assert.Zero(f, f.store.Resynced(), "the store resynced although there is no period")
	}},
	{"there is no resync before the first list", "", func(f *fixture) {
		f.config.ResyncPeriod = time.Second
		f.source.SetLatency(10 * time.Second)
		f.start()
		f.pass(9500 * time.Millisecond)
		assert.Zero(f, f.store.Resynced(), "the store resynced before it had a list")
	}},
	{"a resync does not disturb the watch", "", func(f *fixture) {
		f.config.ResyncPeriod = time.Second
		f.start()
		for range 60 {
			f.pass(900 * time.Millisecond)
			f.add("a")
		}
		f.pass(0)
		assert.Equal(f, 54, f.store.Resynced(), "want a resync every second, between the events")
		assert.Len(f, f.asked("watch"), 1, "a resync ended the watch")
		assert.Equal(f, 60, f.Snapshot().Events, "want every event, between the resyncs")
	}},
	{"a watch that ends does not postpone the resync", "", func(f *fixture) {
		f.config.ResyncPeriod = 10 * time.Second
		f.start()
		for range 8 {
			f.pass(4 * time.Second)
			f.source.Cut(nil)
		}
		f.pass(0)
		assert.Equal(f, 3, f.store.Resynced(), "want a resync every 10 s, in 32 s of watches that each end after 4 s")
	}},
	{"a failed resync leads to a list", "", func(f *fixture) {
		f.config.ResyncPeriod = time.Minute
		fails := 1
		f.store.OnCall = func(op string) error {
			if op == "Resync" && fails > 0 {
				fails--
				return errors.New("no")
			}
			return nil
		}
		f.start()
		f.pass(time.Minute + someTime)
		assert.Len(f, f.store.Replaced(), 2, "no list after a failed resync")
		require.Len(f, f.errors, 1, "the error of the resync was not reported")
		var failed *reflector.StoreError
		require.ErrorAs(f, f.errors[0], &failed)
		assert.Equal(f, reflector.OpResync, failed.Op, "the error names the operation")
		f.pass(2 * time.Minute)
		assert.Positive(f, f.store.Resynced(), "want a resync after the new list")
	}},
	// Defect 8.13 of client-go: a relist restarts the timer of the resync.
	{"relists do not postpone resyncs", ResyncBeat, func(f *fixture) {
		f.config.ResyncPeriod = 10 * time.Minute
		f.start()
		for range 16 {
			f.pass(4*time.Minute - time.Second)
			f.source.SendError(informertest.Expired("too old"))
		}
		f.pass(0)
		assert.Equal(f, 6, f.store.Resynced())
		assert.Greater(f, len(f.requests("list")), 14)
	}},
	{"a resync delayed for several periods happens once and then at the next multiple, without a burst", ResyncBeat, func(f *fixture) {
		f.config.ResyncPeriod = 10 * time.Second
		began := time.Now()
		var at []time.Duration
		f.store.OnCall = func(op string) error {
			if op == "Resync" {
				if at = append(at, time.Since(began)); len(at) == 1 {
					time.Sleep(45 * time.Second) // a slow store: four and a half periods pass
				}
			}
			return nil
		}
		f.start()
		f.pass(85 * time.Second)
		assert.Equal(f, []time.Duration{10 * time.Second, 55 * time.Second, 60 * time.Second, 70 * time.Second, 80 * time.Second}, at)
	}},
	{"resyncs due during the first list are not made up for", ResyncBeat, func(f *fixture) {
		f.config.ResyncPeriod = 10 * time.Second
		began := time.Now()
		var at []time.Duration
		f.config.Trace = &reflector.Trace{Resync: func(error) { at = append(at, time.Since(began)) }}
		release := f.source.Hold()
		f.start()
		f.pass(45 * time.Second)
		release()
		f.pass(20 * time.Second)
		assert.Equal(f, []time.Duration{50 * time.Second, 60 * time.Second}, at)
	}},
}
