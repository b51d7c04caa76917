package metrics

import "orrery/queue"

// queues makes the metrics of work queues, by the queue's name.
type queues struct{ *Metrics }

// Queues makes the metrics of work queues. The queue's UpdateMetrics belongs to BeforeGather.
func (m *Metrics) Queues() queue.MetricsProvider { return queues{m} }

func (q queues) NewDepthMetric(name string) queue.SettableGaugeMetric {
	return q.gauge(queueDepth, name)
}

func (q queues) NewAddsMetric(name string) queue.CounterMetric { return q.counter(queueAdds, name) }

func (q queues) NewLatencyMetric(name string) queue.HistogramMetric {
	return q.histogram(queueLatency, name)
}

func (q queues) NewWorkDurationMetric(name string) queue.HistogramMetric {
	return q.histogram(queueWork, name)
}

func (q queues) NewUnfinishedWorkSecondsMetric(name string) queue.SettableGaugeMetric {
	return q.gauge(queueUnfinished, name)
}

func (q queues) NewLongestRunningProcessorSecondsMetric(name string) queue.SettableGaugeMetric {
	return q.gauge(queueLongest, name)
}

func (q queues) NewRetriesMetric(name string) queue.CounterMetric {
	return q.counter(queueRetries, name)
}
