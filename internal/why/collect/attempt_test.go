package collect

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// However the waves are nested, no more than eight requests run at a time.
func TestRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCollector(nil, "shop", Options{})
		var now, most atomic.Int64
		send := func(context.Context) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return nil
		}
		inner := func() {
			var reads []func()
			for range 4 {
				reads = append(reads, func() { assert.NoError(t, c.attempt(t.Context(), send)) })
			}
			parallel(reads...)
		}
		var outer sync.WaitGroup
		for range 6 {
			outer.Go(inner)
		}
		outer.Wait()
		assert.EqualValues(t, atOnce, most.Load())
		assert.EqualValues(t, 24, c.requests.Load())
	})
}
