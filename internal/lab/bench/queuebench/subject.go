package queuebench

import (
	"sync/atomic"
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

// Sinks are metrics that only count their calls. A run measures the queue's own work for its
// metrics and can prove that the queue did it.
type Sinks struct {
	Adds    Sink // workqueue_adds_total
	Waits   Sink // workqueue_queue_duration_seconds
	Works   Sink // workqueue_work_duration_seconds
	Retries Sink // workqueue_retries_total
	Gauges  Sink // everything else
}

// Sink is a counter, a gauge or a histogram that counts its calls.
type Sink struct{ calls atomic.Int64 }

// Calls returns the number of calls.
func (s *Sink) Calls() int { return int(s.calls.Load()) }

// Inc counts a call.
func (s *Sink) Inc() { s.calls.Add(1) }

// Dec counts a call.
func (s *Sink) Dec() { s.calls.Add(1) }

// Set counts a call.
func (s *Sink) Set(float64) { s.calls.Add(1) }

// Observe counts a call.
func (s *Sink) Observe(float64) { s.calls.Add(1) }

// provider passes the sinks to this project's queue.
type provider struct{ *Sinks }

func (p provider) NewDepthMetric(string) queue.SettableGaugeMetric                 { return &p.Gauges }
func (p provider) NewAddsMetric(string) queue.CounterMetric                        { return &p.Adds }
func (p provider) NewLatencyMetric(string) queue.HistogramMetric                   { return &p.Waits }
func (p provider) NewWorkDurationMetric(string) queue.HistogramMetric              { return &p.Works }
func (p provider) NewUnfinishedWorkSecondsMetric(string) queue.SettableGaugeMetric { return &p.Gauges }
func (p provider) NewLongestRunningProcessorSecondsMetric(string) queue.SettableGaugeMetric {
	return &p.Gauges
}
func (p provider) NewRetriesMetric(string) queue.CounterMetric { return &p.Retries }

// mostStall is far below the time after which a workload counts an event as lost.
const mostStall = 10 * time.Second

// stalling makes queues that stand still once: no key is handed out for a while. It tests a
// harness, whose latencies must show it.
type stalling struct {
	Subject
	after, lasts time.Duration // since the queue was made
}

func (s stalling) New(options Options) Queue {
	from := time.Now().Add(s.after)
	return &stalled{s.Subject.New(options), from, from.Add(s.lasts)}
}

type stalled struct {
	Queue
	from, to time.Time
}

// Get holds the key until the stall is over.
func (q *stalled) Get() (key string, shutdown bool) {
	key, shutdown = q.Queue.Get()
	if now := time.Now(); now.After(q.from) && now.Before(q.to) {
		time.Sleep(q.to.Sub(now))
	}
	return key, shutdown
}
