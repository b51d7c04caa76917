package theirs

import (
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"orrery/internal/lab/bench/queuebench"
)

// PriorityQueue is controller-runtime's priority queue, which its controllers use by default. All keys have the same
// priority here.
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

// lastKeyKept keeps what the priority queue gives away and calls a shutdown: a key that is handed out while ShutDown is
// called comes with shutdown=true. The workloads shut a queue down when it is empty, and count every key.
type lastKeyKept struct {
	priorityqueue.PriorityQueue[string]
}

// Get returns shutdown only without a key.
func (q lastKeyKept) Get() (key string, shutdown bool) {
	key, shutdown = q.PriorityQueue.Get()
	return key, shutdown && key == ""
}
