package nsctl

import (
	"context"
	"errors"
	"sync"
	"time"

	"orrery/wait"
)

// worker takes namespaces from the queue until it is shut down. Once its context has ended it drops
// what is queued.
func (c *Controller) worker(ctx context.Context) {
	for {
		name, shutdown := c.queue.Get()
		switch {
		case shutdown:
			return
		case ctx.Err() != nil:
			c.queue.Done(name)
		default:
			c.sync(ctx, name)
		}
	}
}

// sync makes one pass and plans the next one. Done is deferred, so that it is also called when a
// hook panics: otherwise no worker would get the namespace again. For the same reason the next pass
// is planned before hooks are called.
func (c *Controller) sync(ctx context.Context, name string) {
	defer c.queue.Done(name)
	if c.tooEarly(name) {
		return
	}
	started := time.Now()
	c.setActive(name, started)
	defer c.clearActive(name)

	err := c.guardedPass(ctx, name)
	c.requeue(name, err)
	if panicked, ok := errors.AsType[*wait.Panic](err); ok {
		c.trace.PassPanicked(name, panicked)
	}
	c.trace.PassDone(name, time.Since(started), c.queue.NumRequeues(name), err)
}

// requeue plans the next pass after one that ended with err.
func (c *Controller) requeue(name string, err error) {
	var remaining *ResourcesRemainingError
	switch {
	case err == nil:
		c.queue.Forget(name)
	case errors.As(err, &remaining):
		c.queue.AddAfter(name, remaining.RequeueAfter())
	default:
		c.queue.AddRateLimited(name)
	}
}

func (c *Controller) setActive(name string, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active[name] = since
}

func (c *Controller) clearActive(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.active, name)
}

// tooEarly postpones a pass until the grace period of the namespace is over. A pass comes too early
// if it was planned for a former namespace of that name: it would look at the new one while servers
// still accept content in it.
func (c *Controller) tooEarly(name string) bool {
	namespace, err := c.lister.Get(name)
	if err != nil || namespace.DeletionTimestamp == nil {
		return false
	}
	left := c.unsettled(namespace)
	if left > 0 {
		c.queue.AddAfter(name, left)
	}
	return left > 0
}

// guardedPass is syncNamespace with a time limit, in which a panic is a failure whatever
// wait.ReallyCrash says: one namespace cannot keep all others from being deleted. A goroutine
// reports passes that take long.
func (c *Controller) guardedPass(ctx context.Context, name string) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = wait.NewPanic(value)
		}
	}()
	if c.passTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.passTimeout, ErrPassTimeout)
		defer cancel()
	}
	defer c.watchPass(name)()
	ctx = c.trace.PassContext(ctx, name)
	c.trace.PassStarted(name)
	return c.syncNamespace(ctx, name)
}

// syncNamespace passes the namespace on if the store still has it.
func (c *Controller) syncNamespace(ctx context.Context, name string) (err error) {
	namespace, err := c.lister.Get(name)
	if err != nil || namespace.DeletionTimestamp == nil {
		return nil // gone from the store, or a new one of that name
	}
	seen, known := c.beginPass(namespace)
	if !known {
		return nil // a new one of that name since a moment ago; its event is still on the way
	}
	defer func() { c.endPass(namespace, err) }()
	err = c.deleter.Delete(ctx, name, seen)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// StuckAfter is how long a pass may take before [Trace].PassStuck is called.
const StuckAfter = time.Minute

// watchPass calls PassStuck when a pass that begins now has taken StuckAfter, and again whenever
// that time has doubled. The returned function stops this, and waits for a call in progress.
func (c *Controller) watchPass(name string) (end func()) {
	if c.trace.PassStuck == nil {
		return func() {}
	}
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		began := time.Now()
		for mark := StuckAfter; ; mark *= 2 {
			select {
			case <-over:
				return
			case <-time.After(mark - time.Since(began)):
				c.passStuck(name, mark)
			}
		}
	})
	return func() {
		close(over)
		watching.Wait()
	}
}

func (c *Controller) passStuck(name string, running time.Duration) {
	defer wait.HandleCrash() // a fault of the hook would otherwise end the process
	c.trace.PassStuck(name, running, c.queue.Len())
}
