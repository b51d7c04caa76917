package machine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

// The incidents in testdata are regression tests as well; these need more than a script. The
// numbers are those of the list of known client-go defects, or of kubernetes issues.

// Defect 8.5: client-go reopens a streaming list at once, and without end, if the server closes
// it before the bookmark. Here an hour of that costs a few requests.
func TestDefect8_5_NoHotLoopOfStreamingLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		closing := 0
		f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
		f.config.ListerWatcher = reflectortest.Scripted{
			OnList: f.source.List,
			OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				w, err := f.source.Watch(ctx, opts)
				if opts.SendInitialEvents {
					closing++
					f.source.Cut(nil)
				}
				return w, err
			},
		}
		f.source.SetStreamingList(informertest.StreamingWithoutBookmark)
		stop := f.run()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, reflector.DefaultStreamingListAttempts, closing)
		looks := slices.DeleteFunc(f.requests("list"), func(r informertest.Request) bool { return r.Options.Limit != 1 })
		assert.Len(t, f.requests("list"), 1+len(looks))
		assert.LessOrEqual(t, len(looks), 20, "one after each silence")
		assert.True(t, f.Snapshot().Synced)
		stop()
	})
}

// A stopped stream may still deliver: the other goroutine has found it idle while an event was in
// flight. The event is dropped; the next watch delivers it again.
func TestEventOfAnAbandonedStreamIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.IdleTimeout = time.Minute
		late := &lateWatcher{stopped: make(chan struct{})}
		watches := 0
		f.config.ListerWatcher = reflectortest.Scripted{
			OnList: f.source.List,
			OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				if watches++; watches == 1 {
					return late, nil
				}
				return f.source.Watch(ctx, opts)
			},
		}
		stop := f.run()
		time.Sleep(61 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, watches)
		assert.Empty(t, f.store.State())
		assert.Equal(t, "1", f.LastSyncResourceVersion())
		stop()
	})
}

// lateWatcher delivers an event when it is stopped.
type lateWatcher struct{ stopped chan struct{} }

func (w *lateWatcher) Next() (api.WatchEvent[*api.Namespace], error) {
	<-w.stopped
	ns := informertest.Namespace("late")
	ns.ResourceVersion = "99"
	return api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: ns, ResourceVersion: "99"}, nil
}

func (w *lateWatcher) Stop() {
	select {
	case <-w.stopped:
	default:
		close(w.stopped)
	}
}

// A request that outlives its attempt, because its ListerWatcher ignores the context, does not
// count for the next attempt.
func TestWatchThatOpensDuringTheNextAttemptIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.IdleTimeout = time.Minute
		late := &lateWatcher{stopped: make(chan struct{})}
		watches := 0
		f.config.ListerWatcher = reflectortest.Scripted{
			OnList: f.source.List,
			OnWatch: func(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
				if watches++; watches == 1 {
					time.Sleep(70 * time.Second)
					return late, nil
				}
				return f.source.Watch(ctx, opts)
			},
		}
		stop := f.run()
		time.Sleep(71 * time.Second)
		synctest.Wait()
		assert.Equal(t, 2, watches)
		select {
		case <-late.stopped:
		default:
			t.Error("the watch that was opened too late is left open")
		}
		f.source.Add(informertest.Namespace("a"))
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2"}, f.store.State())
		stop()
	})
}
