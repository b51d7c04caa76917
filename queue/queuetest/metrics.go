package queuetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
)

func runMetrics(t *testing.T, impl Implementation) {
	for _, s := range metricScripts {
		bubble(t, s.name, func(t *testing.T) {
			var m Metrics
			q, update := impl.NewWithMetrics("a queue", m.Provide)
			assert.Equal(t, "a queue", m.queue)
			(&player{T: t, q: ended(t, q), metrics: &m, update: update}).play(s.calls)
		})
	}
}

// Gauges are looked at last: an implementation may let time pass until they are up to date.
var metricScripts = []script[queue.DelayingInterface[string]]{
	{name: "adds, depth and the two durations", calls: `
		add a; add b; adds 2 -- want each Add recorded
		pass 2s; get a; waited 2s -- want Get recorded, with the time that the key waited
		get b; pass 3s; worked -- no key is done
		done b; worked 3s -- want Done recorded with its duration when it returns: was the lock released with unlock?
		pass 1s; done a; worked 3s 4s -- want Done recorded with the time since Get
		add c; depth 1 -- a key waits
		get c; depth 0 -- no key waits`},
	{name: "coalesced additions are not counted", calls: `
		add a; pass 1s; add a; pass 1s; get a; adds 1 -- the second Add was coalesced
		waited 2s -- the wait begins with the first addition`},
	{name: "the wait of a key added while a worker holds it begins with Add", calls: `
		pass 1s; add a; get a; pass 1s; add a; add a; adds 2 -- the last Add was coalesced
		pass 2s; done a; pass 4s; get a; waited 0s 6s -- waiting for Done counts
		worked 3s`},
	{name: "unfinished work and the longest running processor", calls: `
		add a; get a; pass 10s; add b; get b; pass 1s; ages -- a and b are with workers
		done a; ages -- b is with its worker
		done b; ages -- no key is with a worker`},
	{name: "retries", calls: `
		after a 1s; after a 1m; after b 0; retries 3 -- want each AddAfter counted, also one without effect
		adds 1 -- only b was added
		pass 1s; adds 2 -- the delay of a has ended
		shut; after c 1s; retries 3 -- AddAfter after ShutDown does not count`},
}

// Metrics records every value by the metric's exported name, such as queue.MetricDepth.
type Metrics struct {
	queue string // whose metrics were provided

	mu           sync.Mutex
	values       map[string]float64   // guarded by mu; gauges and counters
	observations map[string][]float64 // guarded by mu; histograms
}

// Provide is a queue.MetricsProvider for one queue.
func (m *Metrics) Provide(name string) queue.Metrics {
	m.queue, m.values, m.observations = name, map[string]float64{}, map[string][]float64{}
	return queue.Metrics{
		Depth:          metric{m, queue.MetricDepth},
		UnfinishedWork: metric{m, queue.MetricUnfinishedWork},
		LongestRunning: metric{m, queue.MetricLongestRunning},
		Adds:           metric{m, queue.MetricAdds},
		Retries:        metric{m, queue.MetricRetries},
		Latency:        metric{m, queue.MetricLatency},
		WorkDuration:   metric{m, queue.MetricWorkDuration},
	}
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

// metric is one counter, gauge or histogram of a Metrics.
type metric struct {
	all  *Metrics
	name string
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

// Keys returns n keys of the usual length of a namespaced object's.
func Keys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%04d/some-name-%08d", i%1000, i)
	}
	return keys
}

// NoMetrics is a provider whose metrics do nothing, which leaves the queue's own work for metrics.
func NoMetrics(string) queue.Metrics {
	var n noMetric
	return queue.Metrics{
		Depth: n, UnfinishedWork: n, LongestRunning: n, Adds: n, Retries: n, Latency: n, WorkDuration: n,
	}
}

type noMetric struct{}

func (noMetric) Inc()            {}
func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}
