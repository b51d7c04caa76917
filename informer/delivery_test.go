package informer_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/restclient/api"
)

// stuck is a handler that blocks in its first callback until it is released.
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

// TestHandlersChooseWhetherTheirBacklogIsMerged: one informer with one handler of each kind, all
// of them stuck.
func TestHandlersChooseWhetherTheirBacklogIsMerged(t *testing.T) {
	inBubble(t, config{Gears: fastGears}, func(n *namespaces) {
		release := make(chan struct{})
		logs := make([]log, 2)
		for i, opts := range []informer.HandlerOptions{{}, {Coalescing: true}} {
			_, err := n.AddEventHandlerWithOptions(stuck(release, &logs[i]), opts)
			require.NoError(t, err)
		}
		n.start()
		n.add("a")
		for range 5 {
			n.modify("a")
		}
		n.delete("a")
		n.add("b")
		h := n.Snapshot().Handlers
		assert.Equal(t, 8, h[0].Pending)
		assert.Equal(t, 3, h[1].Pending)
		assert.EqualValues(t, 5, h[1].Merged, "four updates into the first, and all into the deletion")
		close(release)
		synctest.Wait()
		all := log{"add a", "update a", "update a", "update a", "update a", "update a", "delete a", "add b"}
		assert.Equal(t, all, logs[0])
		assert.Equal(t, log{"add a", "delete a", "add b"}, logs[1])
		assert.Zero(t, n.Snapshot().Handlers[1].Pending)
		assert.EqualValues(t, 3, n.Snapshot().Handlers[1].Handled)
	})
}
