package queuebench

import (
	"time"

	"orrery/queue"
	"orrery/wait"
)

// Queue is what the workloads ask of a work queue. It is a part of queue.RateLimitingInterface, and the methods mean what
// they mean there.
type Queue interface {
	Add(key string)
	Get() (key string, shutdown bool)
	Done(key string)
	AddAfter(key string, after time.Duration)
	AddRateLimited(key string)
	NumRequeues(key string) int
	Len() int
	ShutDown()
}

// Batcher is a queue that takes and gives many keys at a time. Where a subject has these methods, Pipeline uses them: it is
// how somebody with a million keys would use it.
type Batcher interface {
	AddAll(keys []string)
	GetBatch(keys []string) (n int, shutdown bool)
	DoneAll(keys []string)
}

// Options of a queue that a workload wants. The zero value is a queue without metrics.
type Options struct {
	// Backoff is what the first failure of a key costs: the queue's rate limiter is the exponential one for each key.
	// Default: 5 ms, as in controllers.
	Backoff time.Duration
	// Punctual asks for delays that end as close to their time as the queue is able to. Most have no choice.
	Punctual bool
	// Sinks get the queue's metrics. Default: no metrics.
	Sinks *Sinks
}

// MaxBackoff is the longest back-off of the queues here, as in controllers unless Backoff is longer.
const MaxBackoff = 1000 * time.Second

// Backoffs returns the first and the longest back-off.
func (o Options) Backoffs() (first, longest time.Duration) {
	first = o.Backoff
	if first == 0 {
		first = 5 * time.Millisecond
	}
	return first, max(first, MaxBackoff)
}

// Subject makes queues of one kind.
type Subject interface {
	// Name of the kind, as flags and tables have it.
	Name() string
	// New makes an empty queue. The workload shuts it down.
	New(Options) Queue
	// Supports says whether a scenario makes sense for this kind, by its name ("queue/cycle"). The others are left out.
	Supports(scenario string) bool
}

// Orrery is this project's queue.
func Orrery() Subject { return orrery{} }

type orrery struct{}

func (orrery) Name() string         { return "orrery" }
func (orrery) Supports(string) bool { return true }

func (orrery) New(options Options) Queue {
	first, longest := options.Backoffs()
	limiter := queue.NewItemExponentialFailureRateLimiter[string](first, longest)
	if options.Sinks == nil {
		return queue.NewRateLimiting(limiter, queue.Config[string]{Punctual: options.Punctual})
	}
	q := queue.NewRateLimiting(limiter, queue.Config[string]{
		Name: "bench", Metrics: provider{options.Sinks}, Punctual: options.Punctual,
	})
	return newUpdated(q)
}

// updated is a queue whose gauges are kept up to date, as a program with metrics does it and as client-go does it by
// itself.
type updated struct {
	*queue.RateLimitingQueue[string]
	stop chan struct{}
}

func newUpdated(q *queue.RateLimitingQueue[string]) *updated {
	u := &updated{RateLimitingQueue: q, stop: make(chan struct{})}
	go wait.Until(q.UpdateMetrics, 500*time.Millisecond, u.stop)
	return u
}

// ShutDown ends the updates, too.
func (u *updated) ShutDown() {
	close(u.stop)
	u.RateLimitingQueue.ShutDown()
}
