package informer_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKubernetes98657AndClientGo1167RemovedHandlersLeaveNothing: handlers can be removed, and
// their goroutines end then, not with the informer.
func TestKubernetes98657AndClientGo1167RemovedHandlersLeaveNothing(t *testing.T) {
	for _, gears := range sets {
		inBubble(t, config{Gears: gears}, func(n *namespaces) {
			n.source.Add(namespace("a"))
			n.start()
			for range 100 {
				r := n.register(&log{})
				require.NoError(t, n.RemoveEventHandler(r))
				<-r.Ended()
			}
			assert.Empty(t, n.Snapshot().Handlers)
		})
	}
}

// TestClientGo1312FirstResyncIsDelivered: a resync is delivered although the resource version is
// the same.
func TestClientGo1312FirstResyncIsDelivered(t *testing.T) {
	inEachBubble(t, config{ResyncPeriod: 20 * time.Minute}, func(n *namespaces) {
		h := n.handler()
		n.start()
		n.add("a")
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		assert.Equal(t, &log{"add a", "update a"}, h)
	})
}
