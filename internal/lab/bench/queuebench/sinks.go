package queuebench

import (
	"sync/atomic"

	"orrery/queue"
)

// Sinks are metrics that only count their calls. A run measures the queue's own work for its
// metrics and can prove that the queue did it.
type Sinks struct {
	Adds    Sink // workqueue_adds_total
	Waits   Sink // workqueue_queue_duration_seconds
	Works   Sink // workqueue_work_duration_seconds
	Retries Sink // workqueue_retries_total
	Gauges  Sink // everything else
}

// Sink is a counter, a gauge or a histogram that counts its calls.
type Sink struct{ calls atomic.Int64 }

// Calls returns the number of calls.
func (s *Sink) Calls() int { return int(s.calls.Load()) }

// Inc counts a call.
func (s *Sink) Inc() { s.calls.Add(1) }

// Dec counts a call.
func (s *Sink) Dec() { s.calls.Add(1) }

// Set counts a call.
func (s *Sink) Set(float64) { s.calls.Add(1) }

// Observe counts a call.
func (s *Sink) Observe(float64) { s.calls.Add(1) }

// provider passes the sinks to this project's queue.
type provider struct{ *Sinks }

func (p provider) NewDepthMetric(string) queue.SettableGaugeMetric                 { return &p.Gauges }
func (p provider) NewAddsMetric(string) queue.CounterMetric                        { return &p.Adds }
func (p provider) NewLatencyMetric(string) queue.HistogramMetric                   { return &p.Waits }
func (p provider) NewWorkDurationMetric(string) queue.HistogramMetric              { return &p.Works }
func (p provider) NewUnfinishedWorkSecondsMetric(string) queue.SettableGaugeMetric { return &p.Gauges }
func (p provider) NewLongestRunningProcessorSecondsMetric(string) queue.SettableGaugeMetric {
	return &p.Gauges
}
func (p provider) NewRetriesMetric(string) queue.CounterMetric { return &p.Retries }
