package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
)

func TestWaitForCacheSync(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		r := n.register(&log{})
		assert.True(t, informer.WaitForCacheSync(context.Background()), "nothing to wait for")

		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		assert.False(t, informer.WaitForCacheSync(ctx, n.HasSynced))
		assert.ErrorIs(t, informer.WaitForSync(ctx, n, r), context.DeadlineExceeded)

		n.start()
		assert.True(t, informer.WaitForCacheSync(ctx, n.HasSynced, r.HasSynced), "a synced informer wins over an expired context")
		assert.NoError(t, informer.WaitForSync(ctx, n, r))
	})
}

func TestWaitingEndsWithTheSync(t *testing.T) {
	inEachBubble(t, config{}, func(n *namespaces) {
		n.source.SetLatency(250 * time.Millisecond)
		r := n.register(&log{})
		begin := time.Now()
		n.start()
		assert.True(t, informer.WaitForCacheSync(context.Background(), n.HasSynced))
		assert.Equal(t, 300*time.Millisecond, time.Since(begin), "it looks each 100 ms")
		assert.NoError(t, informer.WaitForSync(context.Background(), n, r))
		assert.Equal(t, 300*time.Millisecond, time.Since(begin))
		synctest.Wait()
	})
}
