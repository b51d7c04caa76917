package fast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

// The queue removes the record of a key that is done.
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
	assert.Equal(t, n, q.records.Len(), "only the delayed keys have records")
	for i := range n {
		q.Add(n + i) // cancels the delay
		key, _ := q.Get()
		q.Done(key)
	}
	require.NoError(t, q.Check())
	assert.Zero(t, q.records.Len())
	q.AddAfter(1, time.Hour)
	q.ShutDown()
	assert.Zero(t, q.records.Len(), "the delays were dropped")
}
