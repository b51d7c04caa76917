package informer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/internal/hooks"
	"orrery/restclient/api"
)

// recordingTrace records every call of every hook.
type recordingTrace struct {
	mu    sync.Mutex
	lines []string
}

func (r *recordingTrace) record(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// take returns the records since the last call.
func (r *recordingTrace) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := r.lines
	r.lines = nil
	return lines
}

func (r *recordingTrace) trace() *informer.Trace {
	return &informer.Trace{
		Started: func(name string) { r.record("started %s", name) },
		Stopped: func(name string) { r.record("stopped %s", name) },
		Synced:  func(name string) { r.record("synced %s", name) },
		HandlerAdded: func(h informer.HandlerInfo, initial int) {
			r.record("handler %d %s added, %d initial", h.ID, h.Handler, initial)
		},
		HandlerRemoved: func(h informer.HandlerInfo) { r.record("handler %d removed", h.ID) },
		HandlerEnded: func(h informer.HandlerInfo,
			dropped int) {
			r.record("handler %d ended, %d dropped", h.ID, dropped)
		},
		HandlerSynced: func(h informer.HandlerInfo) { r.record("handler %d synced", h.ID) },
		HandlerPanicked: func(h informer.HandlerInfo, kind informer.EventKind, key string, value any) {
			r.record("handler %d panicked over %v %s: %v", h.ID, kind, key, value)
		},
		Distributed: func(e informer.EventInfo, listeners int) {
			r.record("%v %s to %d", e.Kind, e.Key, listeners)
		},
		Handled: func(h informer.HandlerInfo, e informer.EventInfo, took time.Duration) {
			r.record("handler %d did %v %s in %v", h.ID, e.Kind, e.Key, took)
		},
		ResyncDue: func(name string, handlers int) { r.record("resync of %s due for %d", name, handlers) },
	}
}

func TestTraceReportsEachStep(t *testing.T) {
	var r recordingTrace
	inBubble(t, config{Gears: fastGears, Trace: r.trace(), ResyncPeriod: 10 * time.Second}, func(n *namespaces) {
		_, err := n.AddEventHandlerWithOptions(&log{}, informer.HandlerOptions{Name: "first"})
		require.NoError(t, err)
		n.start()
		assert.ElementsMatch(t, []string{
			"handler 1 first added, 0 initial", "started namespaces", "synced namespaces", "handler 1 synced",
		}, r.take())

		n.add("a")
		assert.Equal(t, []string{"add a to 1", "handler 1 did add a in 0s"}, r.take())

		slow, err := n.AddEventHandlerWithOptions(
			onAdd(func(*api.Namespace) { time.Sleep(2 * time.Second) }), informer.HandlerOptions{ResyncPeriod: -1})
		require.NoError(t, err)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		assert.ElementsMatch(t, []string{
			"handler 2 informer.ResourceEventHandlerFuncs[*orrery/restclient/api.Namespace] added, 1 initial",
			"handler 2 did add a in 2s", "handler 2 synced",
		}, r.take())

		n.modify("a")
		assert.ElementsMatch(t, []string{
			"update a to 2", "handler 1 did update a in 0s", "handler 2 did update a in 0s",
		}, r.take())

		time.Sleep(7 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"resync of namespaces due for 1", "update a to 1", "handler 1 did update a in 0s"},
			r.take())

		n.add("b")
		n.add("c")
		require.NoError(t, n.RemoveEventHandler(slow))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Subset(t, r.take(), []string{"handler 2 removed", "handler 2 ended, 1 dropped"})

		require.NoError(t, n.stop())
		assert.Equal(t, []string{"handler 1 ended, 0 dropped", "stopped namespaces"}, r.take())
	})
}

// HandlerEnded is called before Ended is closed: afterwards the hook's resources may be released.
func TestHandlerEndedIsCalledBeforeEndedIsClosed(t *testing.T) {
	reported := false
	cfg := config{Trace: &informer.Trace{HandlerEnded: func(informer.HandlerInfo, int) {
		time.Sleep(time.Second)
		reported = true
	}}}
	inEachBubble(t, cfg, func(n *namespaces) {
		reported = false
		registration := n.register(&log{})
		n.start()
		require.NoError(n.t, n.RemoveEventHandler(registration))
		<-registration.Ended()
		assert.True(n.t, reported, "Ended was closed before HandlerEnded returned")
	})
}

// A handler added later processes the whole store: its objects wait, too.
func TestTheBacklogIsVisible(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		for i := range 100 {
			n.source.Add(namespace(fmt.Sprint("ns-", i)))
		}
		n.handler()
		n.start()
		release := make(chan struct{})
		n.register(onAdd(func(*api.Namespace) { <-release }))
		n.add("a")
		n.modify("a")
		s := n.Snapshot()
		assert.Equal(t, 102, s.Handlers[1].Pending)
		assert.Equal(t, 102, s.Handlers[1].PeakPending)
		assert.Zero(t, s.Handlers[1].Handled)
		assert.Zero(t, s.Handlers[0].Pending)
		assert.EqualValues(t, 102, s.Handlers[0].Handled)
		close(release)
		synctest.Wait()
		s = n.Snapshot()
		assert.Zero(t, s.Handlers[1].Pending)
		assert.Equal(t, 102, s.Handlers[1].PeakPending)
		assert.EqualValues(t, 102, s.Handlers[1].Handled)
	})
}

func TestSnapshotFollowsTheLife(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		n.source.Add(namespace("a"))
		n.register(&log{})
		_, err := n.AddEventHandlerWithOptions(&log{}, informer.HandlerOptions{Name: "never", ResyncPeriod: -1})
		require.NoError(t, err)

		s := n.Snapshot()
		assert.Equal(t, "namespaces", s.Name)
		assert.Equal(t, informer.StateNew, s.State)
		assert.False(t, s.HasSynced)
		assert.Zero(t, s.Objects)
		assert.Equal(t, reflector.Snapshot{}, s.Reflector)

		n.start()
		s = n.Snapshot()
		assert.Equal(t, informer.StateRunning, s.State)
		assert.True(t, s.HasSynced)
		assert.Equal(t, 1, s.Objects)
		assert.Zero(t, s.Queued)
		assert.Equal(t, n.source.ResourceVersion(), s.Reflector.ResourceVersion)
		assert.Equal(t, []informer.HandlerSnapshot{{
			HandlerInfo: informer.HandlerInfo{Informer: "namespaces", Handler: "*informer_test.log", ID: 1},
			HasSynced:   true,
			PeakPending: s.Handlers[0].PeakPending,
			Handled:     1,
		}, {
			HandlerInfo: informer.HandlerInfo{Informer: "namespaces", Handler: "never", ID: 2},
			HasSynced:   true,
			PeakPending: s.Handlers[1].PeakPending,
			Handled:     1,
		}}, s.Handlers)

		require.NoError(t, n.stop())
		s = n.Snapshot()
		assert.Equal(t, informer.StateStopped, s.State)
		assert.Empty(t, s.Handlers)
		assert.Equal(t, 1, s.Objects)
	})
}

// The content of the DeltaFIFO can be inspected key by key, before, during and after a run.
func TestQueueSnapshot(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		assert.Empty(t, n.QueueSnapshot().Waiting)
		assert.False(t, n.QueueSnapshot().Synced)
		n.handler()
		n.start()
		n.add("a")
		assert.True(t, n.QueueSnapshot().Synced)
		assert.Empty(t, n.QueueSnapshot().Waiting, "it is in the store")
		require.NoError(t, n.stop())
		assert.True(t, n.QueueSnapshot().Closed)
	})
}

// TestHooksMayUseTheInformer: no hook is called with a lock of the informer held. Each hook uses
// the informer once, and at the end all have been called. The textbook queue holds its own lock
// during Distributed, so that hook must not call Snapshot there.
func TestHooksMayUseTheInformer(t *testing.T) {
	for name, gears := range sets {
		t.Run(name, func(t *testing.T) {
			w := &hookUser{t: t, noSnapshot: map[string]string{"textbook": "Distributed"}[name]}
			cfg := config{Name: "namespaces", Gears: gears, Trace: w.trace(), ResyncPeriod: time.Second}
			cfg.Transform = func(ns *api.Namespace) (*api.Namespace, error) {
				if ns.Name == "bad" {
					return nil, errors.New("refused")
				}
				return ns, nil
			}
			source := informertest.NewNamespaceSource()
			w.informer = informer.NewSharedIndexInformer(source, cfg)
			neverRan, err := w.informer.AddEventHandler(&log{})
			require.NoError(t, err)
			require.NoError(t, w.informer.RemoveEventHandler(neverRan))
			w.await("HandlerAdded", "HandlerRemoved", "HandlerEnded")

			_, err = w.informer.AddEventHandler(&log{})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			running := make(chan error, 1)
			go func() { running <- w.informer.Run(ctx) }()
			<-w.informer.Synced()
			source.Add(namespace("bad"))
			source.Add(namespace("a"))
			w.await("Started", "Synced", "HandlerSynced", "Distributed", "Handled", "ProcessError", "ResyncDue")
			cancel()
			if t.Failed() {
				return // Run waits for the hook
			}
			returns(t, "Run", func() { assert.NoError(t, <-running) })
			w.await("Stopped")
		})
		if t.Failed() {
			return // the other sets would only repeat it
		}
	}
}

// hookUser uses an informer in each of its hooks, once per hook.
type hookUser struct {
	t        *testing.T
	informer *informer.SharedIndexInformer[*api.Namespace]
	// noSnapshot is the hook that must not call Snapshot.
	noSnapshot string
	begun      sync.Map // by name: hooks that have been called
	returned   sync.Map // by name: hooks in which the informer could be used
}

// use is called in a hook.
func (w *hookUser) use(hook string) {
	if _, again := w.begun.LoadOrStore(hook, true); again || w.t.Failed() {
		return
	}
	returns(w.t, "an informer that is used in the hook "+hook+" (is it called under a lock?)", func() {
		if hook != w.noSnapshot {
			w.informer.Snapshot()
			w.informer.QueueSnapshot()
		}
		w.informer.IsStopped()
		w.informer.HasSynced()
		if r, err := w.informer.AddEventHandler(&log{}); err == nil {
			assert.NoError(w.t, w.informer.RemoveEventHandler(r))
		}
		w.returned.Store(hook, true)
	})
}

// await waits until the hooks have been called and have used the informer, or the test has
// failed.
func (w *hookUser) await(hooks ...string) {
	w.t.Helper()
	deadline := time.Now().Add(30 * time.Second) // only a failure reaches it
	for _, hook := range hooks {
		for !w.t.Failed() {
			if _, ok := w.returned.Load(hook); ok {
				break
			}
			if time.Now().After(deadline) {
				w.t.Errorf("the hook %s has not been called", hook)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// trace has these hooks; the others must not use the informer, or are seldom called.
func (w *hookUser) trace() *informer.Trace {
	all, trace := hooks.Observe[informer.Trace](func(hook string, _ []any) { w.use(hook) }), &informer.Trace{}
	for _, hook := range []string{"Started", "Stopped", "Synced", "HandlerAdded", "HandlerRemoved", "HandlerEnded",
		"HandlerSynced", "Distributed", "Handled", "ResyncDue", "ProcessError"} {
		reflect.ValueOf(trace).Elem().FieldByName(hook).Set(reflect.ValueOf(all).Elem().FieldByName(hook))
	}
	return trace
}
