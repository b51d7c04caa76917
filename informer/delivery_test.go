package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/restclient/api"
)

// stuck is a handler that hangs in its first callback until it is let go.
func stuck(release <-chan struct{}, l *log) informer.ResourceEventHandler[*api.Namespace] {
	return informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc: func(obj *api.Namespace, initial bool) {
			<-release
			l.OnAdd(obj, initial)
		},
		UpdateFunc: l.OnUpdate,
		DeleteFunc: l.OnDelete,
	}
}

// TestHandlersChooseTheirDelivery: one informer, one handler of each kind, all of them stuck.
func TestHandlersChooseTheirDelivery(t *testing.T) {
	inBubble(t, config{Delivery: informer.ChannelPair}, func(n *namespaces) {
		release := make(chan struct{})
		logs := map[informer.Delivery]*log{}
		for _, d := range []informer.Delivery{0, informer.Batching, informer.Coalescing} {
			logs[d] = &log{}
			_, err := n.AddEventHandlerWithOptions(stuck(release, logs[d]), informer.HandlerOptions{Delivery: d})
			require.NoError(t, err)
		}
		n.start()
		n.add("a")
		for range 5 {
			n.modify("a")
		}
		n.delete("a")
		n.add("b")
		s := n.Snapshot()
		assert.Equal(t, []informer.Delivery{informer.ChannelPair, informer.Batching, informer.Coalescing},
			[]informer.Delivery{s.Handlers[0].Delivery, s.Handlers[1].Delivery, s.Handlers[2].Delivery})
		assert.Equal(t, []int{8, 8, 3}, []int{s.Handlers[0].Pending, s.Handlers[1].Pending, s.Handlers[2].Pending})
		assert.EqualValues(t, 5, s.Handlers[2].Merged, "four updates into the first, and all into the deletion")
		close(release)
		synctest.Wait()
		all := log{"add a", "update a", "update a", "update a", "update a", "update a", "delete a", "add b"}
		assert.Equal(t, all, *logs[0])
		assert.Equal(t, all, *logs[informer.Batching])
		assert.Equal(t, log{"add a", "delete a", "add b"}, *logs[informer.Coalescing])
		assert.Zero(t, n.Snapshot().Handlers[2].Pending)
		assert.EqualValues(t, 3, n.Snapshot().Handlers[2].Handled)
	})
}

// TestBackPressureIsVisible: who waits for whom, for how long, and where events gather meanwhile.
func TestBackPressureIsVisible(t *testing.T) {
	var r recordingTrace
	cfg := config{Delivery: informer.Bounded, Capacity: 10, Trace: &informer.Trace{
		HandlerBlocked: func(h informer.HandlerInfo, waited time.Duration) { r.note("waited %v for %d", waited, h.ID) },
	}}
	inBubble(t, cfg, func(n *namespaces) {
		release := make(chan struct{})
		n.register(stuck(release, &log{}))
		_, err := n.AddEventHandlerWithOptions(&log{}, informer.HandlerOptions{Capacity: 1000})
		require.NoError(t, err)
		n.start()
		for _, name := range []string{"a", "b", "c"} {
			n.add(name)
		}
		for range 20 {
			n.modify("a")
			n.modify("b")
		}
		s := n.Snapshot()
		assert.Less(t, s.Handlers[1].Handled, uint64(43))
		assert.Equal(t, 2, s.Queued, "the objects that change wait in the DeltaFIFO")
		assert.Empty(t, r.take())

		time.Sleep(3 * time.Second)
		close(release)
		synctest.Wait()
		s = n.Snapshot()
		assert.Zero(t, s.Queued)
		assert.Zero(t, s.Handlers[0].Pending)
		assert.EqualValues(t, 43, s.Handlers[0].Handled)
		assert.EqualValues(t, 43, s.Handlers[1].Handled)
		assert.Equal(t, 3*time.Second, s.Handlers[0].Blocked)
		assert.Zero(t, s.Handlers[1].Blocked)
		assert.Equal(t, []string{"waited 3s for 1"}, r.take())
	})
}

// TestLateBoundedHandlerDoesNotHoldUpTheEnd: the informer has been told to end and waits for a callback; a bounded
// handler that comes now is refused, and does not make it wait for more.
func TestLateBoundedHandlerDoesNotHoldUpTheEnd(t *testing.T) {
	p := informer.Config[*api.Namespace]{Delivery: informer.Bounded, Capacity: 1}
	inBubble(t, p, func(n *namespaces) {
		release := make(chan struct{})
		n.register(stuck(release, &log{}))
		n.start()
		for range 3 {
			n.source.Add(namespace("a"))
			n.source.Delete("a")
		}
		synctest.Wait()
		n.cancel()
		synctest.Wait()
		_, err := n.AddEventHandler(&log{})
		assert.ErrorIs(t, err, informer.ErrStopped)
		close(release)
		require.NoError(t, n.stop())
	})
}
