package theirs

import (
	"k8s.io/client-go/util/workqueue"

	"orrery/internal/lab/bench/queuebench"
)

// Queue is client-go's rate-limiting work queue.
func Queue() queuebench.Subject { return clientGoQueue{} }

type clientGoQueue struct{}

func (clientGoQueue) Name() string { return "client-go" }

func (clientGoQueue) New(options queuebench.Options) queuebench.Queue {
	config := workqueue.TypedRateLimitingQueueConfig[string]{}
	if options.Sinks != nil {
		config.Name = "bench" // a queue without a name has no metrics
		config.MetricsProvider = queueProvider{options.Sinks}
	}
	return workqueue.NewTypedRateLimitingQueueWithConfig(exponential(options), config)
}

func exponential(options queuebench.Options) workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](options.Backoffs())
}

// queueProvider gives the sinks to the original's queues.
type queueProvider struct{ *queuebench.Sinks }

func (p queueProvider) NewDepthMetric(string) workqueue.GaugeMetric            { return &p.Gauges }
func (p queueProvider) NewAddsMetric(string) workqueue.CounterMetric           { return &p.Adds }
func (p queueProvider) NewLatencyMetric(string) workqueue.HistogramMetric      { return &p.Waits }
func (p queueProvider) NewWorkDurationMetric(string) workqueue.HistogramMetric { return &p.Works }
func (p queueProvider) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &p.Gauges
}
func (p queueProvider) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return &p.Gauges
}
func (p queueProvider) NewRetriesMetric(string) workqueue.CounterMetric { return &p.Retries }
