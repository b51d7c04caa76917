package informer_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/restclient/api"
)

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

			lags := make(chan struct{})
			_, err = w.informer.AddEventHandler(onAdd(func(*api.Namespace) { <-lags }))
			require.NoError(t, err)
			_, err = w.informer.AddEventHandler(&log{})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			running := make(chan error, 1)
			go func() { running <- w.informer.Run(ctx) }()
			<-w.informer.Synced()
			source.Add(namespace("bad"))
			for i := range 1100 {
				source.Add(namespace(fmt.Sprint("ns-", i)))
			}
			w.await("Started", "Synced", "HandlerSynced", "Distributed", "Handled", "HandlerLagging", "ProcessError", "ResyncDue")
			close(lags)
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

func (w *hookUser) trace() *informer.Trace {
	return &informer.Trace{
		Started:        func(string) { w.use("Started") },
		Stopped:        func(string) { w.use("Stopped") },
		Synced:         func(string) { w.use("Synced") },
		HandlerAdded:   func(informer.HandlerInfo, int) { w.use("HandlerAdded") },
		HandlerRemoved: func(informer.HandlerInfo) { w.use("HandlerRemoved") },
		HandlerEnded:   func(informer.HandlerInfo, int) { w.use("HandlerEnded") },
		HandlerSynced:  func(informer.HandlerInfo) { w.use("HandlerSynced") },
		HandlerLagging: func(informer.HandlerInfo, int) { w.use("HandlerLagging") },
		Distributed:    func(informer.EventInfo, int) { w.use("Distributed") },
		Handled:        func(informer.HandlerInfo, informer.EventInfo, time.Duration) { w.use("Handled") },
		ResyncDue:      func(string, int) { w.use("ResyncDue") },
		ProcessError:   func(string, *informer.ProcessError) { w.use("ProcessError") },
	}
}
