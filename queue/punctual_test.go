package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"orrery/queue"
)

// On a real clock, because the kernel's timer knows no other.
func TestPunctualDelaysComeInTheirOrderAndNotEarly(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	q := queue.NewDelaying(queue.Config[string]{Punctual: true})
	began := time.Now()
	const n = 20
	for i := n; i > 0; i-- {
		q.AddAfter(fmt.Sprint(i), time.Duration(i)*time.Millisecond)
	}
	q.AddAfter("never", time.Hour)
	q.AddAfter("not now", 1500*time.Microsecond)
	assert.True(t, q.Cancel("not now"))
	for i := 1; i <= n; i++ {
		key, _ := q.Get()
		assert.GreaterOrEqual(t, time.Since(began), time.Duration(i)*time.Millisecond)
		require.Equal(t, fmt.Sprint(i), key)
		q.Done(key)
		require.NoError(t, q.Check())
	}
	assert.Len(t, q.Snapshot().Delayed, 1)

	// A key that is due sooner than the timer is set to.
	q.AddAfter("soon", 1)
	key, _ := q.Get()
	assert.Equal(t, "soon", key)
	q.Done(key)
	q.ShutDown()
	_, shutdown := q.Get()
	assert.True(t, shutdown)
}

func TestPunctualQueueWithoutDelaysHasNoTimer(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	q := queue.New(queue.Config[string]{Punctual: true})
	q.Add("a")
	assert.Equal(t, 1, q.Len())
}
