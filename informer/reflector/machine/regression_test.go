package machine_test

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		f.source.Change(func(b *informertest.Behaviour) { b.Streaming = informertest.StreamingWithoutBookmark })
		stop := f.run()
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, 3, closing, "after three attempts the state is listed")
		looks := slices.DeleteFunc(f.requests("list"),
			func(r informertest.Request) bool { return r.Options.Limit != 1 })
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
		late := reflectortest.NewLateWatcher()
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

// A request that outlives its attempt, because its ListerWatcher ignores the context, does not
// count for the next attempt.
func TestWatchThatOpensDuringTheNextAttemptIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.IdleTimeout = time.Minute
		late := reflectortest.NewLateWatcher()
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
		assert.True(t, late.IsStopped(), "the watch that was opened too late is left open")
		f.source.Add(informertest.Namespace("a"))
		synctest.Wait()
		assert.Equal(t, map[string]string{"a": "2"}, f.store.State())
		stop()
	})
}

// restorable is a server whose etcd can be replaced by a backup: by another source, with lower
// versions. It behaves like kube-apiserver v1.36 (tested): it refuses a list at a future version.
// A watch from there is accepted and delivers nothing, not even bookmarks, until the version is
// reached.
type restorable struct {
	source atomic.Pointer[informertest.FakeSource[*api.Namespace]]

	noKeepalive bool
}

// restore replaces the server by another one, which refuses connections for a while, and then some
// lists as well.
func (s *restorable) restore(source *informertest.FakeSource[*api.Namespace], outage time.Duration, busy int) {
	old := s.source.Swap(source)
	refusals := slices.Repeat([]error{syscall.ECONNREFUSED}, int(outage/time.Second))
	source.FailList(refusals...)
	source.FailWatch(refusals...)
	old.Cut(syscall.ECONNRESET)
	time.Sleep(outage)
	source.ClearFaults()
	source.FailList(slices.Repeat([]error{informertest.TooManyRequests(time.Second)}, busy)...)
}

func (s *restorable) List(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
	return s.source.Load().List(ctx, opts)
}

func (s *restorable) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*api.Namespace], error) {
	source := s.source.Load()
	asked, _ := strconv.Atoi(opts.ResourceVersion)
	reached, _ := strconv.Atoi(source.ResourceVersion())
	if !opts.SendInitialEvents && asked > reached {
		opts.ResourceVersion = source.ResourceVersion()
	}
	watcher, err := source.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &watchOfTheFuture{Watcher: watcher, after: asked, keepalive: !s.noKeepalive}, err
}

// watchOfTheFuture drops all events up to a version.
type watchOfTheFuture struct {
	api.Watcher[*api.Namespace]
	after     int
	keepalive bool
}

func (w *watchOfTheFuture) HasKeepalive() bool { return w.keepalive }

func (w *watchOfTheFuture) Next() (api.WatchEvent[*api.Namespace], error) {
	for {
		event, err := w.Watcher.Next()
		if version, _ := strconv.Atoi(event.ResourceVersion); err != nil || version > w.after {
			return event, err
		}
	}
}

// A cluster whose etcd was restored from a backup repeats versions. A client that watches from a
// future version receives nothing for hours; with client-go all controllers have to be restarted
// after a restore.
func TestEtcdIsRestoredFromABackup(t *testing.T) {
	for name, c := range map[string]struct {
		outage      time.Duration
		busy        int
		noKeepalive bool
		within      time.Duration
	}{
		"after an outage":                     {outage: 20 * time.Second, within: 100 * time.Second},
		"after an outage, busy at first":      {outage: 20 * time.Second, busy: 1, within: 150 * time.Second},
		"behind a load balancer":              {within: 4 * time.Minute},
		"behind a load balancer, by HTTP/1.1": {noKeepalive: true, within: 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				server := &restorable{noKeepalive: c.noKeepalive}
				server.source.Store(f.source)
				f.config.ListerWatcher = server
				var refused []string
				f.config.Trace = &reflector.Trace{Expired: func(rv string, err error) {
					assert.Equal(t, reflector.CauseTooLarge, reflector.CauseOf(err))
					refused = append(refused, rv)
				}}
				stop := f.run()
				defer stop()
				for range 50 {
					f.source.AdvanceVersion()
				}
				f.source.Add(informertest.Namespace("lost"))
				time.Sleep(10 * time.Second) // a watch that breaks at once leads to a list, which is another case

				backup := informertest.NewNamespaceSource()
				backup.Add(informertest.Namespace("kept"))
				server.restore(backup, c.outage, c.busy)
				backup.Add(informertest.Namespace("new"))
				time.Sleep(c.within)

				require.Equal(t, reflectortest.Versions(backup.Objects()), f.store.State(),
					"the store still has the state from before the restore")
				assert.Equal(t, []string{"52"}, refused)
				backup.Delete("kept")
				synctest.Wait()
				assert.Equal(t, reflectortest.Versions(backup.Objects()), f.store.State(), "it follows again")
			})
		})
	}
}

// In an ordinary outage, reopening the watch costs one extra request for one object, and no list.
func TestAfterAnOutageTheVersionIsVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		server := &restorable{}
		server.source.Store(f.source)
		f.config.ListerWatcher = server
		stop := f.run()
		defer stop()
		synctest.Wait()
		f.source.Add(informertest.Namespace("a"))
		synctest.Wait()
		before := len(f.requests("list"))
		server.restore(f.source, 20*time.Second, 0)
		f.source.Add(informertest.Namespace("b"))
		time.Sleep(time.Minute)

		verifies := api.ListOptions{ResourceVersion: "2", ResourceVersionMatch: api.MatchNotOlderThan, Limit: 1}
		for _, asked := range f.requests("list")[before:] { // most of them were refused
			assert.Equal(t, verifies, asked.Options)
		}
		assert.Equal(t, reflectortest.Versions(f.source.Objects()), f.store.State())
	})
}

// The list that verifies the resourceVersion waits for the client's own rate limiter. That wait
// used to count as the server's silence, so the watch was not opened while the limiter was
// exhausted.
func TestAVerificationThatIsThrottledIsNotGivenUp(t *testing.T) {
	for name, wait := range map[string]time.Duration{"a minute": time.Minute,
		"less than the answer may take": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				verified, answers := 0, true
				f.config.ListerWatcher = reflectortest.Scripted{
					OnList: func(ctx context.Context, opts api.ListOptions) (*api.List[*api.Namespace], error) {
						if opts.Limit != 1 {
							return f.source.List(ctx, opts)
						}
						verified++
						api.Throttled(ctx, wait)
						select {
						case <-time.After(wait):
						case <-ctx.Done():
							return nil, ctx.Err()
						}
						if !answers {
							<-ctx.Done()
							return nil, ctx.Err()
						}
						return f.source.List(ctx, opts)
					},
					OnWatch: f.source.Watch,
				}
				f.config.Backoff = reflector.BackoffConfig{Initial: time.Minute, Jitter: -1}
				f.source.Change(func(b *informertest.Behaviour) { b.NoKeepalive = true })
				stop := f.run()
				defer stop()
				synctest.Wait()
				f.source.Silence()
				missed := f.source.Add(reflectortest.NamespaceAt("missed", ""))
				time.Sleep(45*time.Second + wait + time.Millisecond)
				synctest.Wait()
				assert.Equal(t, 1, verified, "the first verification is waited for")
				assert.Equal(t, missed.ResourceVersion, f.store.State()["missed"])

				// Beyond that the server has its usual time.
				answers = false
				f.source.Silence()
				time.Sleep(45*time.Second + wait + 9*time.Second)
				assert.Equal(t, reflector.PhaseOpeningWatch, f.Snapshot().Phase)
				time.Sleep(2 * time.Second)
				assert.Equal(t, reflector.PhaseBackingOff, f.Snapshot().Phase)
			})
		})
	}
}
