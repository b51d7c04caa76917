package queue

import "time"

// The names of a queue's metrics as Kubernetes components export them. Each has one label, "name".
const (
	MetricDepth          = "workqueue_depth"                             // gauge: queued keys
	MetricAdds           = "workqueue_adds_total"                        // counter: additions that were not coalesced
	MetricLatency        = "workqueue_queue_duration_seconds"            // histogram: from the addition of a key to Get
	MetricWorkDuration   = "workqueue_work_duration_seconds"             // histogram: from Get to Done
	MetricUnfinishedWork = "workqueue_unfinished_work_seconds"           // gauge: how long keys are with workers, in sum; it grows if those are stuck
	MetricLongestRunning = "workqueue_longest_running_processor_seconds" // gauge: how long the oldest key has been with its worker
	MetricRetries        = "workqueue_retries_total"                     // counter: calls of AddAfter, including those by AddRateLimited
)

// MetricBuckets returns the upper bounds of the two histograms in seconds: ten bounds from 10 ns,
// each ten times the previous one. They are computed by multiplication, as in Kubernetes, to get
// the same errors in the last digit: a bound is a label, and labels are compared as text.
func MetricBuckets() []float64 {
	bounds := make([]float64, 10)
	for i, bound := 0, 1e-8; i < len(bounds); i, bound = i+1, bound*10 {
		bounds[i] = bound
	}
	return bounds
}

// MetricsProvider returns the metrics of the queue with this name.
type MetricsProvider func(name string) Metrics

// Metrics are the metrics of one queue, with the names above. They are called from several
// goroutines at the same time, without the queue's lock.
//
// They are client-go's, except that the depth is a gauge that is set, not counted up and down.
// Metrics are called after the lock was released, so a count could momentarily be negative.
type Metrics struct {
	Depth, UnfinishedWork, LongestRunning SettableGaugeMetric
	Adds, Retries                         CounterMetric
	Latency, WorkDuration                 HistogramMetric
}

// SettableGaugeMetric is a number that goes up and down.
type SettableGaugeMetric interface{ Set(float64) }

// CounterMetric is a number that goes up.
type CounterMetric interface{ Inc() }

// HistogramMetric counts observations by size.
type HistogramMetric interface{ Observe(float64) }

// Instrument returns what a queue with this configuration reports to: a trace that joins the
// metrics and Config.Trace (nil if there is neither), and a function that sets the gauges (nil
// without metrics): the number of queued keys, and how long workers have held theirs, in total and
// at most. It is for implementations of a queue.
func (c Config[K]) Instrument() (*Trace[K], func(depth int, unfinished, longest time.Duration)) {
	if c.Metrics == nil {
		return c.Trace, nil
	}
	m := c.Metrics(c.Name)
	trace := &Trace[K]{
		Added:   func(Event[K]) { m.Adds.Inc() },
		Got:     func(_ Event[K], waited time.Duration) { m.Latency.Observe(waited.Seconds()) },
		Done:    func(_ Event[K], worked time.Duration) { m.WorkDuration.Observe(worked.Seconds()) },
		Delayed: func(Event[K], time.Duration) { m.Retries.Inc() },
	}
	return JoinTraces(trace, c.Trace), func(depth int, unfinished, longest time.Duration) {
		m.Depth.Set(float64(depth))
		m.UnfinishedWork.Set(unfinished.Seconds())
		m.LongestRunning.Set(longest.Seconds())
	}
}

// gaugeSetter sets the gauges, see Instrument.
type gaugeSetter = func(depth int, unfinished, longest time.Duration)

// setGauges sets the gauges of a queue with this content, if it has metrics.
func setGauges[K comparable](set gaugeSetter, s Snapshot[K]) {
	if set == nil {
		return
	}
	var unfinished, longest time.Duration
	for _, p := range s.Processing {
		unfinished += p.For
		longest = max(longest, p.For)
	}
	set(len(s.Queued), unfinished, longest)
}
