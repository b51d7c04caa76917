package informer_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

// startDispatch runs an informer with counting handlers. send delivers n updates of known objects,
// without an allocation of its own, and waits until every handler has received all of them.
func startDispatch(t *testing.T, cfg config, handlers int) (send func(n int)) {
	const objects = 10_000
	var states [2][]*api.Namespace // each object in two versions
	for v := range states {
		for i := range objects {
			obj := reflectortest.NamespaceAt("pod-"+strconv.Itoa(i), "v"+strconv.Itoa(v+1))
			obj.Namespace = "ns"
			states[v] = append(states[v], obj)
		}
	}
	events := make(chan api.WatchEvent[*api.Namespace])
	cfg.Reflector.DisableWatchList = true
	inf := informer.NewSharedIndexInformer(reflectortest.Scripted{
		OnList: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
			return reflectortest.ListOf("1", "", states[0]...), nil
		},
		OnWatch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
			return &reflectortest.ChannelWatcher{Ctx: ctx, Events: events}, nil
		},
	}, cfg)
	var seen, want atomic.Int64
	done := make(chan struct{})
	for range handlers {
		_, err := inf.AddEventHandler(informer.ResourceEventHandlerFuncs[*api.Namespace]{
			UpdateFunc: func(_, _ *api.Namespace) {
				if seen.Add(1) == want.Load() {
					done <- struct{}{}
				}
			},
		})
		require.NoError(t, err)
	}
	running(t, inf)
	<-inf.Synced()
	sent := 0
	return func(n int) {
		want.Add(int64(n * handlers))
		for range n {
			obj := states[(sent/objects+1)%2][sent%objects]
			sent++
			events <- api.WatchEvent[*api.Namespace]{
				Type: api.WatchModified, Object: obj, ResourceVersion: obj.ResourceVersion,
			}
		}
		<-done
	}
}

// TestDispatchAllocations: from the watch to the callback, an event of a known object costs the
// queue entry and the store's atomic box. Notifications, keys, listeners and nil hooks cost
// nothing.
func TestDispatchAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("allocations are counted without the race detector")
	}
	const events = 2000
	for name, cfg := range map[string]config{
		"no trace": {}, "no hooks": {Trace: &informer.Trace{}},
		"a hook for the events of the watch": {Reflector: reflector.Config[*api.Namespace]{
			Trace: &reflector.Trace{Event: func(reflector.EventInfo) {}}}},
	} {
		cfg.Gears = fastGears
		for _, handlers := range []int{1, 16} {
			send := startDispatch(t, cfg, handlers)
			send(20_000) // all objects and buffers exist now
			allocs := testing.AllocsPerRun(10, func() { send(events) })
			// Buffers may grow a little when the scheduler lets a goroutine fall behind.
			assert.LessOrEqual(t, allocs/events, 2.1, "%s, %d handlers", name, handlers)
		}
	}
}
