package queue_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/hooks/hookstest"
	"orrery/queue"
)

// JoinTraces calls the hooks of all traces in the order of the arguments.
func TestJoinTraces(t *testing.T) {
	hookstest.Run(t, queue.JoinTraces[string])
	assert.Nil(t, queue.JoinTraces[string]())
	assert.Nil(t, queue.JoinTraces[string](nil, nil))
	only := &queue.Trace[string]{}
	assert.Same(t, only, queue.JoinTraces(nil, only, nil))

	eachForm(t, func(t *testing.T, newForm newQueue) {
		var heard []string
		hears := func(name string) *queue.Trace[string] {
			return &queue.Trace[string]{
				Added: func(e queue.Event[string]) { heard = append(heard, fmt.Sprint(name, " added ", e)) },
				Got:   func(e queue.Event[string], _ time.Duration) { heard = append(heard, fmt.Sprint(name, " got ", e)) },
			}
		}
		q := newForm(nil, queue.Config[string]{Trace: queue.JoinTraces(hears("first"), nil, hears("second"))})
		q.Add("a")
		q.Get()
		assert.Equal(t, []string{"first added {a 1}", "second added {a 1}", "first got {a 2}", "second got {a 2}"}, heard)
	})
}

func TestMetricBuckets(t *testing.T) {
	buckets := queue.MetricBuckets()
	require.Len(t, buckets, 10)
	assert.Equal(t, 10e-9, buckets[0])
	for i := 1; i < len(buckets); i++ {
		assert.InEpsilon(t, 10, buckets[i]/buckets[i-1], 1e-9)
	}
}
