package workloads

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
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

// Batcher is a queue with batch methods, which a user with a million keys would call.
type Batcher interface {
	AddAll(keys []string)
	GetBatch(keys []string) (n int, shutdown bool)
	DoneAll(keys []string)
}

// QueueOptions are the options of a queue. The zero value is a queue without metrics.
type QueueOptions struct {
	// Sinks receive the queue's metrics. Default: no metrics.
	Sinks *Sinks
}

// Backoff is the delay after the first failure of a key, longer than any run. The rate limiter is
// exponential per item.
const Backoff = time.Hour

// QueueSubject makes queues of one kind.
type QueueSubject interface {
	// Name is the name in flags and tables.
	Name() string
	// New returns an empty queue. The workload shuts it down.
	New(QueueOptions) Queue
}

// QueueSubjects returns the queues that can be measured here. The first is the default.
func QueueSubjects() []QueueSubject { return []QueueSubject{FastQueue(), TextbookQueue()} }

// FastQueue returns this project's fast queue.
func FastQueue() QueueSubject {
	return queueForm{"fast", func(limiter queue.RateLimiter[string], config queue.Config[string]) observableQueue {
		return fast.NewRateLimiting(limiter, config)
	}}
}

// TextbookQueue returns this project's textbook queue: two sets and a list under one lock.
func TextbookQueue() QueueSubject {
	return queueForm{"textbook", func(limiter queue.RateLimiter[string], config queue.Config[string]) observableQueue {
		return queue.NewRateLimiting(limiter, config)
	}}
}

type observableQueue = queue.ObservableInterface[string]

// queueForm is one of the implementations in package queue.
type queueForm struct {
	name string
	make func(queue.RateLimiter[string], queue.Config[string]) observableQueue
}

func (f queueForm) Name() string { return f.name }

func (f queueForm) New(options QueueOptions) Queue {
	limiter := queue.NewItemExponentialFailureRateLimiter[string](Backoff, Backoff)
	if options.Sinks == nil {
		return f.make(limiter, queue.Config[string]{})
	}
	return newUpdated(f.make(limiter, queue.Config[string]{Name: "bench", Metrics: options.Sinks.provide}))
}

// updated is a queue whose gauges are updated regularly, as client-go does itself and programs with
// metrics do for this project's queue.
type updated struct {
	observableQueue
	stop chan struct{}
}

func newUpdated(q observableQueue) *updated {
	u := &updated{observableQueue: q, stop: make(chan struct{})}
	go wait.Until(q.UpdateMetrics, 500*time.Millisecond, u.stop)
	return u
}

// ShutDown also ends the updates.
func (u *updated) ShutDown() {
	close(u.stop)
	u.observableQueue.ShutDown()
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

// provide passes the sinks to this project's queue.
func (s *Sinks) provide(string) queue.Metrics {
	return queue.Metrics{
		Depth: &s.Gauges, UnfinishedWork: &s.Gauges, LongestRunning: &s.Gauges,
		Adds: &s.Adds, Retries: &s.Retries, Latency: &s.Waits, WorkDuration: &s.Works,
	}
}

// mostStall is far below the time after which a workload counts an event as lost.
const mostStall = 10 * time.Second

// stalling makes queues that stand still once: no key is handed out for a while. It tests a
// harness, whose latencies must show it.
type stalling struct {
	QueueSubject
	after, lasts time.Duration // since the queue was made
}

func (s stalling) New(options QueueOptions) Queue {
	from := time.Now().Add(s.after)
	return &stalled{s.QueueSubject.New(options), from, from.Add(s.lasts)}
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

// RunQueue measures a queue of the subject in two phases. In the first, producers add keys as fast
// as they can: throughput and allocations. In the second they add keys at a steady rate: latency,
// from when a key was due until a worker is done with it. Both phases end when everything added has
// been processed, and each is proven. An unmeasured warm-up precedes them.
func RunQueue(ctx context.Context, subject QueueSubject, cfg *QueueConfig, meter *bench.Meter) (*bench.Result, error) {
	keys := bench.NewKeys(cfg.Keys, cfg.Distribution, cfg.Seed)
	r := &run{
		QueueConfig: *cfg, keys: keys, indexOf: keys.Index(),
		states: make([]keyState, cfg.Keys),
		cost:   bench.NewCost(cfg.HandlerCost),
	}
	if cfg.Stall > 0 {
		subject = stalling{subject, cfg.Duration / 3, cfg.Stall}
	}
	meter.Begin("warming up")
	if _, err := r.measure(ctx, subject, cfg.Duration/10, 0); err != nil {
		return nil, err
	}
	runtime.GC() // of the warm-up
	return bench.Driver{
		Load: cfg.Load, Meter: meter, Event: "key", Handled: "processed",
		Phase: func(ctx context.Context, p *bench.Phase) error {
			rate := 0.0
			if p.Paced() {
				rate = p.Rate
			}
			got, err := r.measure(ctx, subject, cfg.Duration, rate)
			if err != nil {
				return err
			}
			p.Done, p.Usage, p.Latency = got.processed, got.usage, got.latency
			p.Also("added", got.added)
			p.Proof = fmt.Sprintf("%d keys added, each handed out after its last Add, never to two workers at once",
				got.added)
			return nil
		},
	}.Run(ctx)
}

// QueueConfig holds the flags of "lab bench queue".
type QueueConfig struct {
	// Producers is the number of goroutines that add keys, Workers of those that process them.
	Producers, Workers int
	// Keys is the number of different keys.
	Keys int
	// HandlerCost is the work of a worker for each key.
	HandlerCost time.Duration
	// Stall is how long the queue hands out nothing, once in each of the two phases, after a third
	// of its time.
	Stall time.Duration
	bench.Load
}

// AddTo adds a flag for each field.
func (c *QueueConfig) AddTo(flags *pflag.FlagSet) {
	bench.NumberVar(flags, &c.Producers, "producers", 2, 1, 10_000, "goroutines that add keys")
	bench.NumberVar(flags, &c.Workers, "workers", 2, 1, 10_000, "goroutines that process keys")
	bench.NumberVar(flags, &c.Keys, "keys", 10_000, 1, 10_000_000, "how many different keys there are")
	bench.CostVar(flags, &c.HandlerCost)
	bench.NumberVar(flags, &c.Stall, "stall", 0, 0, mostStall,
		"stop the queue for this long in each phase: do the results show it?")
	c.Load.AddTo(flags, "keys")
}
