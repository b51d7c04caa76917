package metrics

import (
	"orrery/internal/observe/metrics/exposition"
	"orrery/queue"
)

// queues are the metrics of work queues, by the queue's name.
type queues struct {
	depth, unfinished, longest *exposition.Vec[exposition.Gauge]
	adds, retries              *exposition.Vec[exposition.Counter]
	latency, work              *exposition.Vec[exposition.Histogram]
}

func newQueues(registry *exposition.Registry) queues {
	return queues{
		depth:      registry.Gauges(queueDepth.desc()),
		unfinished: registry.Gauges(queueUnfinished.desc()),
		longest:    registry.Gauges(queueLongest.desc()),
		adds:       registry.Counters(queueAdds.desc()),
		retries:    registry.Counters(queueRetries.desc()),
		latency:    registry.Histograms(queueLatency.desc()),
		work:       registry.Histograms(queueWork.desc()),
	}
}

// Queues makes the metrics of work queues. The queue's UpdateMetrics belongs to BeforeGather.
func (m *Metrics) Queues() queue.MetricsProvider { return &m.queues }

func (q *queues) NewDepthMetric(name string) queue.SettableGaugeMetric {
	return q.depth.With(name)
}

func (q *queues) NewAddsMetric(name string) queue.CounterMetric { return q.adds.With(name) }

func (q *queues) NewLatencyMetric(name string) queue.HistogramMetric {
	return q.latency.With(name)
}

func (q *queues) NewWorkDurationMetric(name string) queue.HistogramMetric {
	return q.work.With(name)
}

func (q *queues) NewUnfinishedWorkSecondsMetric(name string) queue.SettableGaugeMetric {
	return q.unfinished.With(name)
}

func (q *queues) NewLongestRunningProcessorSecondsMetric(name string) queue.SettableGaugeMetric {
	return q.longest.With(name)
}

func (q *queues) NewRetriesMetric(name string) queue.CounterMetric {
	return q.retries.With(name)
}
