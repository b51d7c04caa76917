package theirs

import (
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"orrery/internal/lab/bench/queuebench"
)

// PriorityQueue is controller-runtime's priority queue, its controllers' default. All keys have the
// same priority.
func PriorityQueue() queuebench.Subject { return priorityQueue{} }

type priorityQueue struct{}

func (priorityQueue) Name() string { return "controller-runtime" }

func (priorityQueue) New(options queuebench.Options) queuebench.Queue {
	name := "" // no metrics
	if options.Sinks != nil {
		name = "bench"
	}
	q := priorityqueue.New(name, func(o *priorityqueue.Opts[string]) {
		o.RateLimiter = exponential(options)
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
