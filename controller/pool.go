package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"orrery/informer"
	"orrery/queue"
	"orrery/wait"
)

// Pool is a work queue and its workers. All methods but Run may be called from any goroutine at any
// time.
type Pool struct {
	config PoolConfig
	queue  queue.ObservableInterface[string]

	mu      sync.Mutex
	working bool                 // Run has begun
	active  map[string]time.Time // when each running pass began, by key
}

// NewPool returns a pool whose workers do not run yet.
func NewPool(config PoolConfig) *Pool {
	config = config.withDefaults()
	return &Pool{
		config: config,
		queue: config.NewQueue(config.RateLimiter, queue.Config[string]{
			Name: config.Name, Trace: config.QueueTrace, Metrics: config.QueueMetrics,
		}),
		active: map[string]time.Time{},
	}
}

// Add queues a key. It is for handlers, and does not block.
func (p *Pool) Add(key string) { p.AddAfter(key, 0) }

// AddAfter queues a key after a delay.
func (p *Pool) AddAfter(key string, after time.Duration) {
	p.mu.Lock()
	working := p.working
	p.mu.Unlock()
	if working {
		p.queue.AddAfter(key, after)
	}
}

// Run works until stop is done, then finishes queued keys and running passes, and returns. When
// alive is done it cancels all passes at once. Run may be called once.
func (p *Pool) Run(stop, alive context.Context) {
	defer p.queue.ShutDown()
	if !informer.WaitForCacheSync(stop, p.config.Synced...) {
		return
	}
	p.begin()

	// Passes outlive stop: running ones are finished. abort cancels them.
	working, abort := context.WithCancelCause(alive)
	defer abort(nil)
	var workers wait.Group
	for range p.config.Workers {
		workers.StartWithContext(working, func(working context.Context) {
			wait.UntilWithContext(working, p.runWorker, time.Second)
		})
	}

	select {
	case <-stop.Done():
	case <-alive.Done():
	}
	release := context.AfterFunc(alive, p.queue.ShutDown) // ends the drain below
	defer release()
	drainOver := time.AfterFunc(p.config.DrainTimeout, func() {
		abort(ErrCutShort)
		p.queue.ShutDown()
	})
	defer drainOver.Stop()
	p.queue.ShutDownWithDrain()
	abort(nil)
	workers.Wait()
}

// begin queues every existing object, and lets Add queue events. In this order none is missed,
// because the store has an object before the handler gets its event.
func (p *Pool) begin() {
	p.mu.Lock()
	p.working = true
	p.mu.Unlock()
	for _, key := range p.config.Keys() {
		p.queue.Add(key)
	}
}

// runWorker runs until the queue is shut down.
func (p *Pool) runWorker(ctx context.Context) {
	for p.processNextWorkItem(ctx) {
	}
}

// processNextWorkItem makes one pass and decides when the next one is due. Once its context has
// ended it drops the key.
func (p *Pool) processNextWorkItem(ctx context.Context) bool {
	key, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(key) // or no worker could ever get the key again
	if ctx.Err() != nil {
		return true
	}
	began := p.setActive(key)
	defer p.clearActive(key)
	after, err := p.pass(ctx, key)
	_, permanent := errors.AsType[*permanentError](err)
	switch {
	case permanent:
		p.queue.Forget(key)
	case err != nil:
		p.queue.AddRateLimited(key)
	case after > 0:
		p.queue.Forget(key)
		p.queue.AddAfter(key, after)
	default:
		p.queue.Forget(key)
	}
	p.config.Trace.PassDone(key, time.Since(began), p.queue.NumRequeues(key), after, err)
	return true
}

// pass calls Reconcile with a time limit, and turns a panic into an error.
func (p *Pool) pass(ctx context.Context, key string) (after time.Duration, err error) {
	defer func() {
		if value := recover(); value != nil {
			after, err = 0, wait.NewPanic(value)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, p.config.PassTimeout, ErrPassTimeout)
	defer cancel()
	ctx = p.config.Trace.PassContext(ctx, key)
	p.config.Trace.PassStarted(key)
	after, err = p.config.Reconcile(ctx, key)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, err
	}
	return after, nil
}

func (p *Pool) setActive(key string) (began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	began = time.Now()
	p.active[key] = began
	return began
}

func (p *Pool) clearActive(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, key)
}

// Healthy returns an error if a pass has been running for twice its time limit. It ignores its
// context, and only a restart of the process frees its worker.
func (p *Pool) Healthy() error { return Overdue(p.Snapshot().Active, p.config.PassTimeout) }

// Overdue returns an error if a pass began more than twice its timeout ago. active has the start of
// each running pass, by key.
func Overdue(active map[string]time.Time, timeout time.Duration) error {
	for key, began := range active {
		if took := time.Since(began); took > 2*timeout {
			return fmt.Errorf("the pass of %s has been under way for %v", key, took.Round(time.Second))
		}
	}
	return nil
}

// PoolSnapshot is the state of a pool, as plain data.
type PoolSnapshot struct {
	// Active has the start of each running pass, by key.
	Active map[string]time.Time
	// Queue is the state of the work queue.
	Queue queue.Snapshot[string]
}

// Snapshot returns the running passes and the state of the queue.
func (p *Pool) Snapshot() PoolSnapshot {
	p.mu.Lock()
	active := maps.Clone(p.active)
	p.mu.Unlock()
	return PoolSnapshot{Active: active, Queue: p.queue.Snapshot()}
}

// UpdateMetrics sets the gauges of the queue's metrics. Call it when they are read.
func (p *Pool) UpdateMetrics() { p.queue.UpdateMetrics() }
