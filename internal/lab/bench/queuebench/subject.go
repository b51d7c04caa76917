package queuebench

import (
	"time"

	"orrery/queue"
	"orrery/queue/fast"
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
}

// Subjects are the queues that can be measured here, the best first.
func Subjects() []Subject { return []Subject{Orrery(), Textbook()} }

// Orrery is this project's fast queue.
func Orrery() Subject {
	return form{"fast", func(limiter queue.RateLimiter[string], config queue.Config[string]) observable {
		return fast.NewRateLimiting(limiter, config)
	}}
}

// Textbook is this project's textbook queue: two sets and a list under one lock.
func Textbook() Subject {
	return form{"textbook", func(limiter queue.RateLimiter[string], config queue.Config[string]) observable {
		return queue.NewRateLimiting(limiter, config)
	}}
}

type observable = queue.ObservableInterface[string]

// form is one of the forms of package queue.
type form struct {
	name string
	make func(queue.RateLimiter[string], queue.Config[string]) observable
}

func (f form) Name() string { return f.name }

func (f form) New(options Options) Queue {
	limiter := queue.NewItemExponentialFailureRateLimiter[string](options.Backoffs())
	if options.Sinks == nil {
		return f.make(limiter, queue.Config[string]{})
	}
	return newUpdated(f.make(limiter, queue.Config[string]{Name: "bench", Metrics: provider{options.Sinks}}))
}

// updated is a queue whose gauges are kept up to date, as a program with metrics does it and as client-go does it by
// itself.
type updated struct {
	observable
	stop chan struct{}
}

func newUpdated(q observable) *updated {
	u := &updated{observable: q, stop: make(chan struct{})}
	go wait.Until(q.UpdateMetrics, 500*time.Millisecond, u.stop)
	return u
}

// ShutDown ends the updates, too.
func (u *updated) ShutDown() {
	close(u.stop)
	u.observable.ShutDown()
}
