package queuetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runMetrics(t *testing.T, impl Implementation) {
	scenario := func(name string, f func(*testing.T, queue.DelayingInterface[string], *Metrics, func())) {
		bubble(t, name, func(t *testing.T) {
			m := NewMetrics()
			q, update := impl.NewWithMetrics("a queue", m)
			f(t, ended(t, q), m, update)
		})
	}
	scenario("adds, depth and the two durations", testMetricsOfWork)
	scenario("coalesced additions are not counted", testMetricsCoalesce)
	scenario("the wait of a key added while a worker holds it begins with Add", testMetricsDirty)
	scenario("unfinished work and the longest running processor", testMetricsUnfinished)
	scenario("retries", testMetricsRetries)
}

// Metrics is a queue.MetricsProvider that records every value by the metric's exported name, such
// as queue.MetricDepth.
type Metrics struct {
	mu           sync.Mutex
	names        map[string]string    // guarded by mu; metric to queue
	values       map[string]float64   // guarded by mu; gauges and counters
	observations map[string][]float64 // guarded by mu; histograms
}

// NewMetrics returns a new provider for one queue.
func NewMetrics() *Metrics {
	return &Metrics{names: map[string]string{}, values: map[string]float64{}, observations: map[string][]float64{}}
}

// Value returns the value of a counter or gauge.
func (m *Metrics) Value(metric string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[metric]
}

// Observations returns the values that a histogram observed, in seconds.
func (m *Metrics) Observations(metric string) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]float64{}, m.observations[metric]...)
}

// Names returns the queue's name for each created metric.
func (m *Metrics) Names() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.names
}

// metric is one counter, gauge or histogram of a Metrics.
type metric struct {
	all  *Metrics
	name string
}

func (m *Metrics) metric(name, queue string) metric {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names[name] = queue
	return metric{m, name}
}

func (m metric) Inc() {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.values[m.name]++
}

func (m metric) Set(value float64) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.values[m.name] = value
}

func (m metric) Observe(value float64) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.observations[m.name] = append(m.all.observations[m.name], value)
}

func (m *Metrics) NewDepthMetric(queueName string) queue.SettableGaugeMetric {
	return m.metric(queue.MetricDepth, queueName)
}

func (m *Metrics) NewAddsMetric(queueName string) queue.CounterMetric {
	return m.metric(queue.MetricAdds, queueName)
}

func (m *Metrics) NewLatencyMetric(queueName string) queue.HistogramMetric {
	return m.metric(queue.MetricLatency, queueName)
}

func (m *Metrics) NewWorkDurationMetric(queueName string) queue.HistogramMetric {
	return m.metric(queue.MetricWorkDuration, queueName)
}

func (m *Metrics) NewUnfinishedWorkSecondsMetric(queueName string) queue.SettableGaugeMetric {
	return m.metric(queue.MetricUnfinishedWork, queueName)
}

func (m *Metrics) NewLongestRunningProcessorSecondsMetric(queueName string) queue.SettableGaugeMetric {
	return m.metric(queue.MetricLongestRunning, queueName)
}

func (m *Metrics) NewRetriesMetric(queueName string) queue.CounterMetric {
	return m.metric(queue.MetricRetries, queueName)
}

func testMetricsOfWork(t *testing.T, q queue.DelayingInterface[string], m *Metrics, update func()) {
	for metric, name := range m.Names() {
		assert.Equal(t, "a queue", name, metric)
	}
	assert.Len(t, m.Names(), 7)

	q.Add("a")
	q.Add("b")
	update()
	assert.EqualValues(t, 2, m.Value(queue.MetricAdds), "want each Add recorded")
	assert.EqualValues(t, 2, m.Value(queue.MetricDepth))

	began := time.Now()
	pass(2 * time.Second)
	waited := time.Since(began).Seconds()
	take(t, q)
	update()
	assert.EqualValues(t, 1, m.Value(queue.MetricDepth))
	require.Len(t, m.Observations(queue.MetricLatency), 1, "want Get recorded, with the time that the key waited")
	assert.GreaterOrEqual(t, m.Observations(queue.MetricLatency)[0], waited)

	got := time.Now()
	take(t, q)
	pass(3 * time.Second)
	worked := time.Since(got).Seconds()
	assert.Empty(t, m.Observations(queue.MetricWorkDuration))
	q.Done("b")
	require.Equal(t, []float64{worked}, m.Observations(queue.MetricWorkDuration),
		"want Done recorded with its duration when it returns: was the lock released with unlock?")
	q.Done("a")
	require.Len(t, m.Observations(queue.MetricWorkDuration), 2)
	assert.GreaterOrEqual(t, m.Observations(queue.MetricWorkDuration)[1], worked, "the key was taken earlier")
	update()
	assert.Zero(t, m.Value(queue.MetricDepth))
}

func testMetricsCoalesce(t *testing.T, q queue.DelayingInterface[string], m *Metrics, _ func()) {
	q.Add("a")
	pass(time.Second)
	q.Add("a")
	pass(time.Second)
	take(t, q)
	assert.EqualValues(t, 1, m.Value(queue.MetricAdds))
	assert.Equal(t, []float64{2}, m.Observations(queue.MetricLatency), "the wait begins with the first addition")
}

func testMetricsDirty(t *testing.T, q queue.DelayingInterface[string], m *Metrics, _ func()) {
	pass(time.Second)
	q.Add("a")
	take(t, q)
	pass(time.Second)
	q.Add("a")
	q.Add("a")
	assert.EqualValues(t, 2, m.Value(queue.MetricAdds))
	pass(2 * time.Second)
	q.Done("a")
	pass(4 * time.Second)
	take(t, q)
	assert.Equal(t, []float64{0, 6}, m.Observations(queue.MetricLatency), "waiting for Done counts")
	assert.Equal(t, []float64{3}, m.Observations(queue.MetricWorkDuration))
}

func testMetricsUnfinished(t *testing.T, q queue.DelayingInterface[string], m *Metrics, update func()) {
	began := time.Now()
	q.Add("a")
	take(t, q)
	pass(10 * time.Second)
	second := time.Now()
	q.Add("b")
	take(t, q)
	pass(time.Second)
	update()
	old, young := time.Since(began).Seconds(), time.Since(second).Seconds()
	assert.InDelta(t, old+young, m.Value(queue.MetricUnfinishedWork), 1e-9)
	assert.InDelta(t, old, m.Value(queue.MetricLongestRunning), 1e-9)

	q.Done("a")
	update()
	young = time.Since(second).Seconds()
	assert.InDelta(t, young, m.Value(queue.MetricUnfinishedWork), 1e-9)
	assert.InDelta(t, young, m.Value(queue.MetricLongestRunning), 1e-9)

	q.Done("b")
	update()
	assert.Zero(t, m.Value(queue.MetricUnfinishedWork))
	assert.Zero(t, m.Value(queue.MetricLongestRunning))
}

func testMetricsRetries(t *testing.T, q queue.DelayingInterface[string], m *Metrics, _ func()) {
	q.AddAfter("a", time.Second)
	q.AddAfter("a", time.Minute) // no effect, but counted
	q.AddAfter("b", 0)
	waitIdle()
	assert.EqualValues(t, 3, m.Value(queue.MetricRetries))
	assert.EqualValues(t, 1, m.Value(queue.MetricAdds), "only b was added")
	pass(time.Second)
	assert.EqualValues(t, 2, m.Value(queue.MetricAdds))
	q.ShutDown()
	q.AddAfter("c", time.Second)
	assert.EqualValues(t, 3, m.Value(queue.MetricRetries))
}

// Keys returns n keys of the usual length of a namespaced object's.
func Keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%04d/some-name-%08d", i%1000, i)
	}
	return keys
}

// NoMetrics is a provider whose metrics do nothing, which leaves the queue's own work for metrics.
type NoMetrics struct{}

type noMetric struct{}

func (noMetric) Inc()            {}
func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

func (NoMetrics) NewDepthMetric(string) queue.SettableGaugeMetric                 { return noMetric{} }
func (NoMetrics) NewAddsMetric(string) queue.CounterMetric                        { return noMetric{} }
func (NoMetrics) NewLatencyMetric(string) queue.HistogramMetric                   { return noMetric{} }
func (NoMetrics) NewWorkDurationMetric(string) queue.HistogramMetric              { return noMetric{} }
func (NoMetrics) NewUnfinishedWorkSecondsMetric(string) queue.SettableGaugeMetric { return noMetric{} }
func (NoMetrics) NewLongestRunningProcessorSecondsMetric(string) queue.SettableGaugeMetric {
	return noMetric{}
}
func (NoMetrics) NewRetriesMetric(string) queue.CounterMetric { return noMetric{} }
