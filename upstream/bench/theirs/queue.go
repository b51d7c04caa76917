package main

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"orrery/internal/lab/bench/workloads"
)

// PriorityQueue is controller-runtime's priority queue, its controllers' default. All keys have the
// same priority.
func PriorityQueue() workloads.QueueSubject { return priorityQueue{} }

type priorityQueue struct{}

func (priorityQueue) Name() string { return "controller-runtime" }

func (priorityQueue) New(options workloads.QueueOptions) workloads.Queue {
	name := "" // no metrics
	if options.Sinks != nil {
		name = "bench"
	}
	q := priorityqueue.New(name, func(o *priorityqueue.Opts[string]) {
		o.RateLimiter = exponential()
		o.MetricProvider = queueProvider{options.Sinks}
	})
	return lastKeyKept{q}
}

// lastKeyKept keeps the key that the priority queue returns with shutdown=true while ShutDown runs.
// The workloads shut down an empty queue and count every key.
type lastKeyKept struct {
	priorityqueue.PriorityQueue[string]
}

// Get returns shutdown only without a key.
func (q lastKeyKept) Get() (key string, shutdown bool) {
	key, shutdown = q.PriorityQueue.Get()
	return key, shutdown && key == ""
}

// Queue is client-go's rate-limiting work queue.
func Queue() workloads.QueueSubject { return clientGoQueue{} }

type clientGoQueue struct{}

func (clientGoQueue) Name() string { return "client-go" }

func (clientGoQueue) New(options workloads.QueueOptions) workloads.Queue {
	config := workqueue.TypedRateLimitingQueueConfig[string]{}
	if options.Sinks != nil {
		config.Name = "bench" // a queue without a name has no metrics
		config.MetricsProvider = queueProvider{options.Sinks}
	}
	return workqueue.NewTypedRateLimitingQueueWithConfig(exponential(), config)
}

func exponential() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](workloads.Backoff, workloads.Backoff)
}

// queueProvider gives the sinks to the original's queues.
type queueProvider struct{ *workloads.Sinks }

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
