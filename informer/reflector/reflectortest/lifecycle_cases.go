package reflectortest

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/internal/hooks"
	"orrery/restclient/api"
)

var lifecycleCases = []suiteCase{
	{"Run stops while listing", func(f *fixture) {
		f.source.Hold()
		f.stopsIn(reflector.PhaseListing, nil)
	}},
	{"Run stops while opening a watch", func(f *fixture) {
		f.stopsIn(reflector.PhaseOpeningWatch, func() { f.pass(2 * time.Second); f.source.Hold(); f.source.Cut(nil) })
	}},
	{"Run stops while watching", func(f *fixture) { f.stopsIn(reflector.PhaseWatching, nil) }},
	{"Run stops while it watches a dead connection",
		func(f *fixture) { f.stopsIn(reflector.PhaseWatching, f.source.Silence) }},
	{"Run stops while backing off from a list", func(f *fixture) {
		f.source.FailList(errors.New("no"))
		f.stopsIn(reflector.PhaseBackingOff, nil)
	}},
	{"Run stops while backing off from a watch", func(f *fixture) {
		f.source.FailWatch(syscall.ECONNREFUSED)
		f.stopsIn(reflector.PhaseBackingOff, nil)
	}},
	{"Run does nothing if its context has ended", func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		r := f.impl.New(f.config)
		assert.Equal(f, reflector.PhaseIdle, r.Snapshot().Phase)
		r.Run(ctx)
		assert.Equal(f, reflector.PhaseStopped, r.Snapshot().Phase)
		assert.Empty(f, f.store.Replaced)
	}},
	{"the error handler may stop Run", func(f *fixture) {
		f.source.FailList(informertest.StatusError(403, api.ReasonForbidden, "no"))
		ctx, cancel := context.WithCancel(context.Background())
		f.config.WatchErrorHandler = func(context.Context, error) { cancel() }
		f.impl.New(f.config).Run(ctx)
		assert.Len(f, f.asked("list"), 1)
	}},
	// A store that closes with its owner, like the DeltaFIFO of an informer, may refuse the present
	// call.
	{"nothing is reported after the end", func(f *fixture) {
		for _, op := range []string{"Replace", "Add"} {
			ctx, cancel := context.WithCancel(context.Background())
			f.store.OnCall = func(called string) error {
				if called != op {
					return nil
				}
				cancel()
				return errors.New("the store is closed")
			}
			f.config.Trace = &reflector.Trace{StoreFailed: func(err *reflector.StoreError) {
				f.Errorf("traced: %v",
					err)
			}}
			r := f.impl.New(f.config)
			time.AfterFunc(time.Second, func() { f.add("a") })
			r.Run(ctx)
			assert.Zero(f, r.Snapshot().StoreErrors)
			assert.Empty(f, f.errors)
		}
	}},
	{"a watch that opens too late is closed", func(f *fixture) {
		late := NewLateWatcher()
		f.config.ListerWatcher = Scripted{
			OnList: f.source.List,
			OnWatch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
				<-ctx.Done()
				return late, nil
			},
		}
		f.Cleanup(late.Stop)
		f.start()()
		assert.True(f, late.IsStopped(), "the watch was left open")
		assert.Empty(f, f.store.State())
	}},
	{"the end reaches a watch that ignores its context", func(f *fixture) {
		late := NewLateWatcher()
		f.config.ListerWatcher = Scripted{
			OnList: f.source.List,
			OnWatch: func(context.Context, api.ListOptions) (api.Watcher[*api.Namespace], error) {
				return late, nil
			},
		}
		f.Cleanup(late.Stop)
		f.start()()
		assert.Empty(f, f.store.State(), "an event after the end")
	}},
	{"the trace reports every step", func(f *fixture) {
		var story []reflector.Phase
		var ended []reflector.WatchInfo
		var started []string
		f.config.Trace = &reflector.Trace{
			StateChanged: func(from, to reflector.Phase, on string) {
				assert.NotEmpty(f, on)
				if len(story) > 0 {
					assert.Equal(f, story[len(story)-1], from)
				}
				story = append(story, to)
			},
			WatchStarted: func(o api.ListOptions) { started = append(started, o.ResourceVersion) },
			WatchEnded:   func(w reflector.WatchInfo) { ended = append(ended, w) },
		}
		stop := f.start()
		f.add("a")
		f.source.SendBookmark()
		f.pass(2 * time.Second)
		stop()
		assert.Equal(f, []reflector.Phase{reflector.PhaseListing, reflector.PhaseReplacing, reflector.PhaseOpeningWatch,
			reflector.PhaseWatching, reflector.PhaseStopped}, story, "the phases in their order")
		assert.Equal(f, []string{"1"}, started)
		require.Len(f, ended, 1)
		assert.NoError(f, ended[0].Err, "the end of Run's context is no error of the watch")
		assert.Equal(f, []reflector.WatchInfo{{ResourceVersion: "2", Events: 2, Lasted: 2 * time.Second}}, ended,
			"a watch with one change and one bookmark, ended by Run's context without an error")
	}},
	{"the position does not move to a change that the store lacks because of a panic", func(f *fixture) {
		for name, trace := range map[string]*reflector.Trace{
			"a hook panics":    {Event: func(reflector.EventInfo) { panic("planned") }},
			"the store panics": nil,
		} {
			f.config.Trace, f.store.OnCall = trace, nil
			if trace == nil {
				f.explode("Update", "planned")
			}
			f.source.Add(informertest.Namespace("a"))
			before := f.source.ResourceVersion()
			time.AfterFunc(time.Second, func() { f.source.Modify(informertest.Namespace("a")) })
			r := f.impl.New(f.config)
			assert.PanicsWithValue(f, "planned", func() { r.Run(context.Background()) }, name)
			assert.Equal(f, before, r.LastSyncResourceVersion(), "%s: the store does not have the change", name)
			assert.Equal(f, before, r.Snapshot().ResourceVersion, "%s: the store does not have the change", name)
		}
	}},
	{"panics continue in Run", func(f *fixture) {
		for name, prepare := range map[string]func(){
			"List panics": func() {
				f.scripted(func(api.ListOptions) (*api.List[*api.Namespace], error) { panic("List panics") })
			},
			"Replace panics": func() { f.explode("Replace", "Replace panics") },
			"Add panics": func() {
				f.explode("Add", "Add panics")
				time.AfterFunc(time.Second, func() { f.add("a") })
			},
			"a hook panics": func() {
				f.config.Trace = &reflector.Trace{WatchStarted: func(api.ListOptions) { panic("a hook panics") }}
			},
			"the handler panics": func() {
				f.source.FailList(assert.AnError)
				f.config.WatchErrorHandler = func(context.Context, error) { panic("the handler panics") }
			},
		} {
			before := f.config
			f.store.OnCall = nil
			prepare()
			func() {
				defer func() { assert.Equal(f, name, recover()) }()
				f.impl.New(f.config).Run(context.Background())
			}()
			assert.Zero(f, f.source.Watchers(), "%s: a watch was left open", name)
			f.config = before
		}
	}},
}

// explode makes a method of the store panic.
func (f *fixture) explode(op, value string) {
	f.store.OnCall = func(called string) error {
		if called == op {
			panic(value)
		}
		return nil
	}
}

// stopsIn asserts that Run returns from a phase without time passing, leaves no watch open and does
// not call the store again.
func (f *fixture) stopsIn(phase reflector.Phase, then func()) {
	f.config.WatchErrorHandler = func(_ context.Context, err error) {
		assert.NotErrorIs(f, err, context.Canceled, "being stopped is no failure")
	}
	f.config.Trace = reflector.JoinTraces(f.config.Trace, &reflector.Trace{BackOff: func(_ time.Duration, err error) {
		assert.NotErrorIs(f, err, context.Canceled, "being stopped is no failure")
	}})
	f.add("a")
	stop := f.start()
	if then != nil {
		then()
		f.pass(0)
	}
	require.Equal(f, phase, f.Snapshot().Phase)
	before := time.Now()
	stop()
	assert.Zero(f, time.Since(before), "Run did not return at once")
	assert.Equal(f, reflector.PhaseStopped, f.Snapshot().Phase)
	assert.Zero(f, f.source.Watchers(), "a watch was left open")
	f.store.OnCall = func(op string) error { f.Errorf("%s is called after the end", op); return nil }
	f.add("b")
	f.pass(time.Minute)
}

// LateWatcher delivers an event when it is stopped, and then ends.
type LateWatcher struct {
	stopped   chan struct{}
	delivered bool
}

// NewLateWatcher returns a watcher that has not been stopped.
func NewLateWatcher() *LateWatcher { return &LateWatcher{stopped: make(chan struct{})} }

// Next implements api.Watcher.
func (w *LateWatcher) Next() (api.WatchEvent[*api.Namespace], error) {
	<-w.stopped
	if w.delivered {
		return api.WatchEvent[*api.Namespace]{}, io.EOF
	}
	w.delivered = true
	return Event(api.WatchAdded, "late", "99"), nil
}

// Stop implements api.Watcher.
func (w *LateWatcher) Stop() {
	if !w.IsStopped() {
		close(w.stopped)
	}
}

// IsStopped reports whether Stop was called.
func (w *LateWatcher) IsStopped() bool {
	select {
	case <-w.stopped:
		return true
	default:
		return false
	}
}

var resyncCases = []suiteCase{
	{"the store resyncs every period, if it should", func(f *fixture) {
		var asked atomic.Int32
		var wanted atomic.Bool
		var traced []error
		f.config.ResyncPeriod = time.Minute
		f.config.ShouldResync = func() bool { asked.Add(1); return wanted.Load() }
		f.config.Trace = &reflector.Trace{Resync: func(err error) { traced = append(traced, err) }}
		f.start()
		f.pass(150 * time.Second)
		assert.EqualValues(f, 2, asked.Load(), "want ShouldResync asked twice in 150 s, with a period of 60 s")
		assert.Zero(f, f.store.Resynced, "the store resynced although ShouldResync said no")
		wanted.Store(true)
		f.pass(time.Minute)
		assert.EqualValues(f, 3, asked.Load(), "want ShouldResync asked once in each period")
		assert.Equal(f, 1, f.store.Resynced, "want one resync of the store when ShouldResync says yes")
		assert.Equal(f, []error{nil}, traced, "Trace.Resync reports the resync")
	}},
	{"without a period there is no resync", func(f *fixture) {
		f.start()
		f.pass(24 * time.Hour)
		assert.Zero(f, f.store.Resynced, "the store resynced although there is no period")
	}},
	{"there is no resync before the first list", func(f *fixture) {
		f.config.ResyncPeriod = time.Second
		f.source.Change(func(b *informertest.Behaviour) { b.Latency = 10 * time.Second })
		f.start()
		f.pass(9500 * time.Millisecond)
		assert.Zero(f, f.store.Resynced, "the store resynced before it had a list")
	}},
	{"a resync does not disturb the watch", func(f *fixture) {
		f.config.ResyncPeriod = time.Second
		f.start()
		for range 60 {
			f.pass(900 * time.Millisecond)
			f.add("a")
		}
		f.pass(0)
		assert.Equal(f, 54, f.store.Resynced, "want a resync every second, between the events")
		assert.Len(f, f.asked("watch"), 1, "a resync ended the watch")
		assert.Equal(f, 60, f.Snapshot().Events, "want every event, between the resyncs")
	}},
	{"a watch that ends does not postpone the resync", func(f *fixture) {
		f.config.ResyncPeriod = 10 * time.Second
		f.start()
		for range 8 {
			f.pass(4 * time.Second)
			f.source.Cut(nil)
		}
		f.pass(0)
		assert.Equal(f, 3, f.store.Resynced, "want a resync every 10 s, in 32 s of watches that each end after 4 s")
	}},
	{"a failed resync leads to a list", func(f *fixture) {
		f.config.ResyncPeriod = time.Minute
		f.failNext("Resync")
		f.start()
		f.pass(time.Minute + someTime)
		assert.Len(f, f.store.Replaced, 2, "no list after a failed resync")
		require.Len(f, f.errors, 1, "the error of the resync was not reported")
		var failed *reflector.StoreError
		require.ErrorAs(f, f.errors[0], &failed)
		assert.Equal(f, reflector.OpResync, failed.Op, "the error names the operation")
		f.pass(2 * time.Minute)
		assert.Positive(f, f.store.Resynced, "want a resync after the new list")
	}},
}

// testLocks calls Snapshot in every hook, handler and store method of the reflector. If one is
// called with the lock of Snapshot held, it blocks forever. A bubble cannot detect that, so this
// case uses real time, which only a failure needs.
func testLocks(t *testing.T, impl Implementation) {
	const lockTimeout = 10 * time.Second
	f := &fixture{T: t, impl: impl, source: informertest.NewNamespaceSource(), store: NewMemory(t)}
	var r Reflector
	var looked sync.Map
	look := func(from string) {
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			r.Snapshot()
			r.LastSyncResourceVersion()
		}()
		select {
		case <-answered:
		case <-time.After(lockTimeout):
			t.Errorf("%s is called under a lock: Snapshot does not return there", from)
		}
		looked.Store(from, true)
	}
	f.store.OnCall = func(op string) error { look("Store." + op); return nil }
	f.config = Config{
		Name: "namespaces", Store: f.store, DisableWatchList: true, ResyncPeriod: 20 * time.Millisecond,
		Backoff:           reflector.BackoffConfig{Initial: time.Millisecond, Jitter: -1},
		ShouldResync:      func() bool { look("ShouldResync"); return true },
		WatchErrorHandler: func(context.Context, error) { look("WatchErrorHandler") },
		ListerWatcher: Scripted{
			OnList: func(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
				look("ListerWatcher.List")
				return f.source.List(ctx, opts)
			},
			OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				look("ListerWatcher.Watch")
				return f.source.Watch(ctx, opts)
			},
		},
		Trace: hooks.Observe[reflector.Trace](func(hook string, _ []any) { look("Trace." + hook) }),
	}
	r = impl.New(f.config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	eventually := func(what string) {
		t.Helper()
		seen := func() bool { _, ok := looked.Load(what); return ok }
		require.Eventually(t, seen, 30*time.Second, time.Millisecond, "%s was not called", what)
	}
	eventually("Trace.WatchStarted")
	f.add("a")
	eventually("Store.Add")
	f.source.Modify(informertest.Namespace("a"))
	eventually("Store.Update")
	f.source.Delete("a")
	eventually("Store.Delete")
	f.source.SendBookmark()
	eventually("Store.Bookmark")
	eventually("Trace.Resync")
	f.source.SendError(informertest.Expired("too old"))
	for _, what := range []string{"Trace.Expired", "Trace.WatchEnded", "WatchErrorHandler", "Trace.BackOff",
		"Trace.StateChanged",
		"Trace.PageListed", "Trace.Listed", "Trace.Event", "Trace.Bookmark", "ShouldResync", "Store.Replace",
		"Store.Resync"} {
		eventually(what)
	}
}
