package queuebench

import (
	"time"

	"orrery/queue"
	"orrery/queue/fast"
	"orrery/wait"
)

// Queue is the part of queue.RateLimitingInterface that the workloads use.
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

// Batcher is a queue with batch methods. Pipeline uses them if a subject has them, as a user with a
// million keys would.
type Batcher interface {
	AddAll(keys []string)
	GetBatch(keys []string) (n int, shutdown bool)
	DoneAll(keys []string)
}

// Options are the options of a queue. The zero value is a queue without metrics.
type Options struct {
	// Backoff is the delay after the first failure of a key; the rate limiter is exponential per
	// item. Default: 5 ms, as in controllers.
	Backoff time.Duration
	// Sinks receive the queue's metrics. Default: no metrics.
	Sinks *Sinks
}

// MaxBackoff is the longest back-off, as in controllers, unless Backoff is longer.
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
	// Name is the name in flags and tables.
	Name() string
	// New returns an empty queue. The workload shuts it down.
	New(Options) Queue
}

// Subjects returns the queues that can be measured here. The first is the default.
func Subjects() []Subject { return []Subject{Orrery(), Textbook()} }

// Orrery returns this project's fast queue.
func Orrery() Subject {
	return form{"fast", func(limiter queue.RateLimiter[string], config queue.Config[string]) observable {
		return fast.NewRateLimiting(limiter, config)
	}}
}

// Textbook returns this project's textbook queue: two sets and a list under one lock.
func Textbook() Subject {
	return form{"textbook", func(limiter queue.RateLimiter[string], config queue.Config[string]) observable {
		return queue.NewRateLimiting(limiter, config)
	}}
}

type observable = queue.ObservableInterface[string]

// form is one of the implementations in package queue.
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

// updated is a queue whose gauges are updated regularly, as client-go does itself and programs with
// metrics do for this project's queue.
type updated struct {
	observable
	stop chan struct{}
}

func newUpdated(q observable) *updated {
	u := &updated{observable: q, stop: make(chan struct{})}
	go wait.Until(q.UpdateMetrics, 500*time.Millisecond, u.stop)
	return u
}

// ShutDown also ends the updates.
func (u *updated) ShutDown() {
	close(u.stop)
	u.observable.ShutDown()
}
