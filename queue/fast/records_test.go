package fast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

// A queue that has nothing to do with a key any more does not remember it.
func TestKeysAreForgotten(t *testing.T) {
	q := NewDelaying(queue.Config[int]{})
	defer q.ShutDown()
	const n = 1000
	for i := range n {
		q.Add(i)
		q.AddAfter(n+i, time.Hour)
	}
	require.Equal(t, 2*n, q.records.Len())
	for range n {
		key, _ := q.Get()
		q.Done(key)
	}
	require.NoError(t, q.Check())
	assert.Equal(t, n, q.records.Len(), "what is left are the delayed keys")
	for i := range n {
		q.Add(n + i) // not later, but now
		key, _ := q.Get()
		q.Done(key)
	}
	require.NoError(t, q.Check())
	assert.Zero(t, q.records.Len())
	q.AddAfter(1, time.Hour)
	q.ShutDown()
	assert.Zero(t, q.records.Len(), "the delays were dropped")
}
