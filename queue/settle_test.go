package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (t *table[K, V]) chunksInUse() (n int) {
	for _, c := range t.chunks {
		if c != nil {
			n++
		}
	}
	return n
}

// process takes n keys that wait, or fewer, and gives them back.
func process(q *Queue[int], n int) {
	for range min(n, q.Len()) {
		key, _ := q.Get()
		q.Done(key)
	}
}

func TestMemoryComesBackAfterAStorm(t *testing.T) {
	q := NewDelaying(Config[int]{})
	defer q.ShutDown()
	const n, delayed = 100_000, 10
	for i := range n {
		q.Add(i)
		if i%(n/delayed) == 0 {
			q.AddAfter(i, time.Hour)
		}
	}
	require.Greater(t, len(q.records.slots), n)
	process(&q.Queue, n)
	require.NoError(t, q.Check())
	assert.LessOrEqual(t, len(q.records.slots), keepSlots)
	assert.LessOrEqual(t, q.records.chunksInUse(), delayed+keepSettled/chunkSize+2)
	assert.LessOrEqual(t, len(q.fifo.buffer), keepRing)
	assert.Len(t, q.Snapshot().Delayed, delayed)

	for range delayed { // what is left works as before
		q.Add(0)
		process(&q.Queue, 1)
	}
	assert.Len(t, q.Snapshot().Delayed, delayed-1)
	require.NoError(t, q.Check())
}

// Ever new keys, of which few are there at a time, need no more room than these few.
func TestTableDoesNotGrowWithKeysThatAreGone(t *testing.T) {
	q := New(Config[int]{})
	for i := range 20 * keepSettled {
		q.Add(i)
		if q.Len() > 10 {
			process(q, 1)
		}
	}
	require.NoError(t, q.Check())
	assert.LessOrEqual(t, len(q.records.slots), keepSlots)
}

func TestSettledRecordsMakeRoomBeforeTheTableGrows(t *testing.T) {
	q := New(Config[int]{})
	next := 0
	fill := func() {
		for ; !q.records.full(); next++ {
			q.Add(next)
		}
	}
	for len(q.records.slots) < 4*keepSettled {
		fill()
		q.Add(next)
		next++
	}
	fill()
	slots := len(q.records.slots)
	settled := q.records.live/3 + 1
	require.Greater(t, settled, keepSettled)
	process(q, settled)
	require.Equal(t, settled, q.settled)
	for range settled {
		q.Add(next)
		next++
	}
	assert.Len(t, q.records.slots, slots)
	assert.Zero(t, q.settled)
	require.NoError(t, q.Check())
	process(q, next)
	assert.Zero(t, q.Len())
	require.NoError(t, q.Check())
}
