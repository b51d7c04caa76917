package reflectortest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// testLocks calls Snapshot in every hook, handler and store method of the reflector. If one is
// called with the lock of Snapshot held, it blocks forever. A bubble cannot detect that, so this
// case uses real time, which only a failure needs.
func testLocks(t *testing.T, impl Implementation) {
	const lockTimeout = 10 * time.Second
	f := &fixture{T: t, impl: impl, source: informertest.NewNamespaceSource(), store: NewMemory(t)}
	var r Reflector
	var mu sync.Mutex
	looked := map[string]bool{}
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
		mu.Lock()
		defer mu.Unlock()
		looked[from] = true
	}
	seen := func(what string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return looked[what]
		}
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
		Trace: &reflector.Trace{
			StateChanged: func(reflector.Phase, reflector.Phase, string) { look("Trace.StateChanged") },
			PageListed:   func(reflector.PageInfo) { look("Trace.PageListed") },
			Listed:       func(reflector.ListInfo) { look("Trace.Listed") },
			WatchStarted: func(api.ListOptions) { look("Trace.WatchStarted") },
			Event:        func(reflector.EventInfo) { look("Trace.Event") },
			Bookmark:     func(string, bool) { look("Trace.Bookmark") },
			WatchEnded:   func(reflector.WatchInfo) { look("Trace.WatchEnded") },
			BackOff:      func(time.Duration, error) { look("Trace.BackOff") },
			Expired:      func(string, error) { look("Trace.Expired") },
			Resync:       func(error) { look("Trace.Resync") },
			StoreFailed:  func(*reflector.StoreError) { look("Trace.StoreFailed") },
		},
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
		require.Eventually(t, seen(what), 30*time.Second, time.Millisecond, "%s was not called", what)
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
	for _, what := range []string{"Trace.Expired", "Trace.WatchEnded", "WatchErrorHandler", "Trace.BackOff", "Trace.StateChanged",
		"Trace.PageListed", "Trace.Listed", "Trace.Event", "Trace.Bookmark", "ShouldResync", "Store.Replace", "Store.Resync"} {
		eventually(what)
	}
}
