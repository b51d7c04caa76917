package queuetest

import (
	"fmt"

	"orrery/queue"
)

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
