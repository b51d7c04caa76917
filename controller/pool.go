package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"orrery/informer"
	"orrery/queue"
	"orrery/wait"
)

// Pool is a work queue and its workers.
//
//	Add ──▶ queue ──Get──▶ worker: Reconcile
//	          ▲                       ├─ nothing more to do   Forget            ─┐
//	          ├─ after that time ─────┼─ look again after     Forget, AddAfter  ─┤
//	          ├─ after that time ─────┼─ RequeueAfterError    AddAfter          ─┼> Done
//	          ├─ after 5, 10, 20 ms ──┼─ any other error      AddRateLimited    ─┤
//	          │                       └─ a permanent error    Forget            ─┘
//
// For example, a is added, and a worker gets it. During its pass a is added again: the queue holds
// it back, because no two workers may have the same key. The pass fails, so the worker calls
// AddRateLimited, and then Done. Now a is ready, for the event that came before, and when the
// back-off is over it is ready once more. If the next pass succeeds, Forget clears its failures.
//
// Read Run first, then processNextWorkItem and requeue. All methods but Run may be called from any
// goroutine at any time.
type Pool struct {
	config PoolConfig
	queue  queue.ObservableInterface[string]
	active *activePasses

	mu      sync.Mutex
	working bool // Run takes keys: Synced is true
}

// NewPool returns a pool whose workers do not run yet.
func NewPool(config PoolConfig) *Pool {
	config = config.withDefaults()
	return &Pool{
		config: config,
		queue: config.NewQueue(config.RateLimiter, queue.Config[string]{
			Name: config.Name, Trace: config.QueueTrace, Metrics: config.QueueMetrics,
		}),
		active: &activePasses{began: map[string]time.Time{}},
	}
}

// Add queues a key. It is for handlers, and does not block. Before the store is filled it does
// nothing: Run queues all keys itself.
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

// Run waits until the store is filled and works until stop is done. Then it finishes queued keys
// and running passes, for at most DrainTimeout, and returns. When alive is done it cancels all
// passes at once, and returns when they have ended. Run may be called once.
func (p *Pool) Run(stop, alive context.Context) {
	defer p.queue.ShutDown()
	if !p.waitForSync(stop, alive) {
		return
	}
	p.begin()

	// Passes outlive stop: running ones are finished. abort cancels them.
	working, abort := context.WithCancelCause(alive)
	defer abort(nil)
	var workers wait.Group
	for range p.config.Workers {
		workers.StartWithContext(working, func(working context.Context) {
			// A worker whose hook panics begins again after a second, unless wait.ReallyCrash.
			wait.UntilWithContext(working, p.runWorker, time.Second)
		})
	}

	select {
	case <-stop.Done():
	case <-alive.Done():
	}
	release := context.AfterFunc(alive, p.queue.ShutDown) // ends the drain below, and idle workers
	defer release()
	drainOver := time.AfterFunc(p.config.DrainTimeout, func() {
		abort(ErrCutShort)
		p.queue.ShutDown()
	})
	defer drainOver.Stop()
	if alive.Err() == nil { // otherwise there may be no worker that would empty the queue
		p.queue.ShutDownWithDrain()
	}
	abort(nil)
	workers.Wait()
}

// waitForSync waits until the store is filled. It returns false if one of the contexts has ended
// before.
func (p *Pool) waitForSync(stop, alive context.Context) bool {
	either, end := context.WithCancel(stop)
	defer end()
	defer context.AfterFunc(alive, end)()
	return informer.WaitForCacheSync(either, p.config.Synced...)
}

// begin queues every existing object, and lets Add queue events. In this order none is missed,
// because the store has an object before the handler gets its event.
func (p *Pool) begin() {
	p.mu.Lock()
	p.working = true
	p.mu.Unlock()
	for _, key := range p.config.Keys() {
		p.queue.AddAfter(key, p.config.Delay(key))
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
	if early := p.config.Delay(key); early > 0 {
		p.queue.AddAfter(key, early)
		return true
	}
	began := p.active.begin(key)
	defer p.active.end(key)
	after, err := p.pass(ctx, key)
	after = p.requeue(key, after, err)
	p.config.Trace.PassDone(key, time.Since(began), p.queue.NumRequeues(key), after, err)
	return true
}

// requeue plans the next pass after one that returned after and err. It returns when that is due, 0
// if an event or the rate limiter decides.
func (p *Pool) requeue(key string, after time.Duration, err error) time.Duration {
	later, waits := errors.AsType[RequeueAfterError](err)
	if waits {
		after = later.RequeueAfter()
	}
	_, permanent := errors.AsType[*permanentError](err)
	switch {
	case waits:
		p.queue.AddAfter(key, after)
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
	return after
}

// pass calls Reconcile with a time limit, and turns a panic into an error. If ctx has ended, its
// cause takes the place of Reconcile's error.
func (p *Pool) pass(ctx context.Context, key string) (after time.Duration, err error) {
	defer func() {
		if value := recover(); value != nil {
			after, err = 0, wait.NewPanic(value)
		}
	}()
	if p.config.PassTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.config.PassTimeout, ErrPassTimeout)
		defer cancel()
	}
	defer watchPass(p.config.Trace.PassStuck, key, p.queue.Len)()
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

// Healthy returns an error if a pass has been running for twice its time limit. It ignores its
// context, and only a restart of the process frees its worker.
func (p *Pool) Healthy() error { return p.active.overdue(p.config.PassTimeout) }

// Snapshot returns the running passes and the state of the queue.
func (p *Pool) Snapshot() PoolSnapshot {
	return PoolSnapshot{Active: p.active.all(), Queue: p.queue.Snapshot()}
}

// UpdateMetrics sets the gauges of the queue's metrics. Call it when they are read.
func (p *Pool) UpdateMetrics() { p.queue.UpdateMetrics() }
