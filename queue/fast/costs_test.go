package fast_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
	"orrery/queue/fast"
)

// someKeys are as long as those of namespaced objects usually are.
func someKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%04d/some-name-%08d", i%1000, i)
	}
	return keys
}

// noMetrics is a provider whose metrics do nothing, so that what is left is the
// queue's own work for them.
type noMetrics struct{}

type noMetric struct{}

func (noMetric) Inc()            {}
func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

func (noMetrics) NewDepthMetric(string) queue.SettableGaugeMetric                 { return noMetric{} }
func (noMetrics) NewAddsMetric(string) queue.CounterMetric                        { return noMetric{} }
func (noMetrics) NewLatencyMetric(string) queue.HistogramMetric                   { return noMetric{} }
func (noMetrics) NewWorkDurationMetric(string) queue.HistogramMetric              { return noMetric{} }
func (noMetrics) NewUnfinishedWorkSecondsMetric(string) queue.SettableGaugeMetric { return noMetric{} }
func (noMetrics) NewLongestRunningProcessorSecondsMetric(string) queue.SettableGaugeMetric {
	return noMetric{}
}
func (noMetrics) NewRetriesMetric(string) queue.CounterMetric { return noMetric{} }

// TestAllocations: what happens all the time allocates nothing, hooks or not.
func TestAllocations(t *testing.T) {
	calls := 0
	for name, config := range map[string]queue.Config[string]{
		"nil trace":   {},
		"empty trace": {Trace: &queue.Trace[string]{}},
		"trace": {Trace: &queue.Trace[string]{
			Added: func(queue.Event[string]) { calls++ },
			Got:   func(queue.Event[string], time.Duration) { calls++ },
			Done:  func(queue.Event[string], time.Duration) { calls++ },
		}},
		"metrics": {Metrics: noMetrics{}},
	} {
		t.Run(name, func(t *testing.T) {
			q := fast.NewRateLimiting(queue.NewItemExponentialFailureRateLimiter[string](time.Hour, time.Hour), config)
			defer q.ShutDown()
			keys := someKeys(100)
			next := 0
			key := func() string {
				next++
				return keys[next%len(keys)]
			}
			none := func(what string, f func()) {
				t.Helper()
				assert.Zero(t, testing.AllocsPerRun(1000, f), what)
			}
			none("Add, Get, Done", func() {
				q.Add(key())
				k, _ := q.Get()
				q.Done(k)
			})
			none("Add while a worker holds the key", func() {
				q.Add(key())
				k, _ := q.Get()
				q.Add(k)
				q.Done(k)
				q.Get()
				q.Done(k)
			})
			none("AddRateLimited, Add, Get, Forget, Done", func() {
				k := key()
				q.AddRateLimited(k)
				q.Add(k)
				q.Get()
				q.Forget(k)
				q.Done(k)
			})
		})
	}
	assert.Positive(t, calls)
}

func TestSnapshotWithoutClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := fast.New(queue.Config[string]{})
		q.Add("a")
		q.Get()
		time.Sleep(time.Hour)
		assert.Equal(t, []queue.ProcessingKey[string]{{Key: "a"}}, q.Snapshot().Processing, "nobody looked at the clock")
	})
}
