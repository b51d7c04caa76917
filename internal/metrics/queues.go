package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"orrery/queue"
)

// queues are the metrics of work queues, by the queue's name.
type queues struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, work              *prometheus.HistogramVec
}

func newQueues(registry *prometheus.Registry) queues {
	return queues{
		depth:      register(registry, queueDepth.gauges()),
		unfinished: register(registry, queueUnfinished.gauges()),
		longest:    register(registry, queueLongest.gauges()),
		adds:       register(registry, queueAdds.counters()),
		retries:    register(registry, queueRetries.counters()),
		latency:    register(registry, queueLatency.histograms()),
		work:       register(registry, queueWork.histograms()),
	}
}

// Queues makes the metrics of work queues. The queue's UpdateMetrics belongs to BeforeGather.
func (m *Metrics) Queues() queue.MetricsProvider { return &m.queues }

func (q *queues) NewDepthMetric(name string) queue.SettableGaugeMetric {
	return q.depth.WithLabelValues(name)
}

func (q *queues) NewAddsMetric(name string) queue.CounterMetric { return q.adds.WithLabelValues(name) }

func (q *queues) NewLatencyMetric(name string) queue.HistogramMetric {
	return q.latency.WithLabelValues(name)
}

func (q *queues) NewWorkDurationMetric(name string) queue.HistogramMetric {
	return q.work.WithLabelValues(name)
}

func (q *queues) NewUnfinishedWorkSecondsMetric(name string) queue.SettableGaugeMetric {
	return q.unfinished.WithLabelValues(name)
}

func (q *queues) NewLongestRunningProcessorSecondsMetric(name string) queue.SettableGaugeMetric {
	return q.longest.WithLabelValues(name)
}

func (q *queues) NewRetriesMetric(name string) queue.CounterMetric {
	return q.retries.WithLabelValues(name)
}
