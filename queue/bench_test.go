package queue

import (
	"fmt"
	"testing"
	"time"
)

var benchKeys = func() []string {
	keys := make([]string, 1024)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%05d/some-name-%05d", i, i)
	}
	return keys
}()

func BenchmarkCycle(b *testing.B) {
	q := New(Config[string]{})
	b.ReportAllocs()
	for i := range b.N {
		q.Add(benchKeys[i&1023])
		k, _ := q.Get()
		q.Done(k)
	}
}

type nopMetrics struct{}

func (nopMetrics) NewDepthMetric(string) SettableGaugeMetric                          { return nop{} }
func (nopMetrics) NewAddsMetric(string) CounterMetric                                 { return nop{} }
func (nopMetrics) NewLatencyMetric(string) HistogramMetric                            { return nop{} }
func (nopMetrics) NewWorkDurationMetric(string) HistogramMetric                       { return nop{} }
func (nopMetrics) NewUnfinishedWorkSecondsMetric(string) SettableGaugeMetric          { return nop{} }
func (nopMetrics) NewLongestRunningProcessorSecondsMetric(string) SettableGaugeMetric { return nop{} }
func (nopMetrics) NewRetriesMetric(string) CounterMetric                              { return nop{} }

type nop struct{}

func (nop) Inc()            {}
func (nop) Set(float64)     {}
func (nop) Observe(float64) {}

func BenchmarkCycleMetrics(b *testing.B) {
	q := New(Config[string]{Metrics: nopMetrics{}})
	b.ReportAllocs()
	for i := range b.N {
		q.Add(benchKeys[i&1023])
		k, _ := q.Get()
		q.Done(k)
	}
}

func BenchmarkCycleDeep(b *testing.B) {
	q := New(Config[string]{})
	for i := range 1000 {
		q.Add(benchKeys[i])
	}
	b.ReportAllocs()
	for range b.N {
		k, _ := q.Get()
		q.Done(k)
		q.Add(k)
	}
}

func BenchmarkAddAfterFar(b *testing.B) {
	keys := make([]string, b.N)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%07d/some-name-%05d", i, i)
	}
	q := NewDelaying(Config[string]{})
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		q.AddAfter(keys[i], time.Hour)
	}
	b.StopTimer()
	q.ShutDown()
}
func BenchmarkAddRateLimited(b *testing.B) {
	keys := make([]string, b.N)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%07d/some-name-%05d", i, i)
	}
	q := NewRateLimiting(NewItemExponentialFailureRateLimiter[string](time.Hour, 1000*time.Hour), Config[string]{})
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		q.AddRateLimited(keys[i])
	}
	b.StopTimer()
	q.ShutDown()
}
