package contract

import (
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"

	"orrery/queue"
	"orrery/queue/queuetest"
)

// TestQueue runs the contract of package queue against client-go's workqueue. The methods have the
// same names, so it needs no adapter.
func TestQueue(t *testing.T) {
	type limiter = queue.RateLimiter[string]
	queuetest.Run(t, queuetest.Implementation{
		New: func() queue.Interface[string] { return workqueue.NewTyped[string]() },
		NewDelaying: func() queue.DelayingInterface[string] {
			return workqueue.NewTypedDelayingQueue[string]()
		},
		NewRateLimiting: func(l limiter) queue.RateLimitingInterface[string] {
			return workqueue.NewTypedRateLimitingQueue[string](l)
		},
		NewWithMetrics: newQueueWithMetrics,
		Limiters: &queuetest.Limiters{
			Exponential: func(base, max time.Duration) limiter {
				return workqueue.NewTypedItemExponentialFailureRateLimiter[string](base, max)
			},
			Bucket: func(qps float64, burst int) limiter {
				return &workqueue.TypedBucketRateLimiter[string]{Limiter: rate.NewLimiter(rate.Limit(qps), burst)}
			},
			MaxOf: func(all ...limiter) limiter {
				typed := make([]workqueue.TypedRateLimiter[string], 0, len(all))
				for _, l := range all {
					typed = append(typed, l)
				}
				return workqueue.NewTypedMaxOfRateLimiter(typed...)
			},
			Controller: func() limiter { return workqueue.DefaultTypedControllerRateLimiter[string]() },
		},
		Lacks: map[queuetest.Capability]string{
			queuetest.IgnoresUnknownDone: "Done does not check whether a worker holds the key " +
				"(kubernetes/kubernetes#141079)",
			queuetest.DrainsQueued:    "ShutDownWithDrain considers only the keys in processing (#141079)",
			queuetest.WakesEveryDrain: "Done wakes one waiter when the queue becomes idle (#141079)",
			queuetest.EndsEveryDrain: "ShutDown of a delaying queue is done once; a later call does not " +
				"reach the queue inside",
			queuetest.AddCancelsDelay: "Add does not know the delayed keys, which another goroutine " +
				"holds (#112325)",
			queuetest.AddAfterIsAtOnce:        "AddAfter leaves the key in a channel for that goroutine",
			queuetest.KeepsOrderOfEqualDelays: "the heap compares times only",
			queuetest.DrainLeavesNothing: "ShutDownWithDrain does not notify the goroutine with the delayed " +
				"keys, which notices within ten seconds (#134323)",
		},
	})
}

// newQueueWithMetrics returns a delaying queue whose gauges are current after half a second, the
// period of the original's goroutine.
func newQueueWithMetrics(name string, provider queue.MetricsProvider) (queue.DelayingInterface[string], func()) {
	q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
		Name: name, MetricsProvider: queueMetrics{provider(name)},
	})
	return q, func() {
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
	}
}

// queueMetrics adapts our metrics to the original's provider.
type queueMetrics struct{ queue.Metrics }

func (m queueMetrics) NewDepthMetric(string) workqueue.GaugeMetric {
	return &queueDepth{gauge: m.Depth}
}

func (m queueMetrics) NewAddsMetric(string) workqueue.CounterMetric {
	return m.Adds
}

func (m queueMetrics) NewLatencyMetric(string) workqueue.HistogramMetric {
	return m.Latency
}

func (m queueMetrics) NewWorkDurationMetric(string) workqueue.HistogramMetric {
	return m.WorkDuration
}

func (m queueMetrics) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return m.UnfinishedWork
}

func (m queueMetrics) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return m.LongestRunning
}

func (m queueMetrics) NewRetriesMetric(string) workqueue.CounterMetric {
	return m.Retries
}

// queueDepth is a gauge that counts up and down. The queue calls it with its lock held.
type queueDepth struct {
	gauge queue.SettableGaugeMetric
	value float64
}

func (d *queueDepth) Inc() {
	d.value++
	d.gauge.Set(d.value)
}

func (d *queueDepth) Dec() {
	d.value--
	d.gauge.Set(d.value)
}
