package nsctl

import (
	"context"
	"fmt"
	"time"
)

// ErrCutShort is what a pass ends with that was still under way when the drain timeout was over. It is a
// context.Canceled.
var ErrCutShort = fmt.Errorf("the controller was told to stop, and the time to finish was over: %w", context.Canceled)

// ErrPassTimeout is what a pass ends with that took longer than Config.PassTimeout: some request was not answered, or there
// was more to do than fits into that time. It is a context.DeadlineExceeded.
var ErrPassTimeout = fmt.Errorf("the pass took longer than it may, the next one goes on with what is left: %w", context.DeadlineExceeded)

// tooEarly postpones a pass until the grace period of the namespace is over. It is called for so early if something was
// planned for a namespace of that name that has gone meanwhile: its retry would look at the new one while there are
// servers that still let content be created in it.
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

// guardedPass is syncNamespace that ends, in the time that a pass may take, with a result: a pass that panics has
// failed. Its watch tells when it takes long.
func (c *Controller) guardedPass(ctx context.Context, name string) (err error) {
	if c.passTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.passTimeout, ErrPassTimeout)
		defer cancel()
	}
	defer c.watchPass(name).end()
	if panicked := c.caughtPass(ctx, name, &err); panicked != nil {
		err = panicked
	}
	return err
}

func (c *Controller) caughtPass(ctx context.Context, name string, err *error) (panicked *PanicError) {
	defer catch(&panicked)
	ctx = c.trace.passContext(ctx, name)
	c.trace.passStarted(name)
	*err = c.syncNamespace(ctx, name)
	return nil
}

// syncNamespace passes the namespace on if the store still has it.
func (c *Controller) syncNamespace(ctx context.Context, name string) error {
	namespace, err := c.lister.Get(name)
	if err != nil || namespace.DeletionTimestamp == nil {
		return nil // gone from the store, or a new one of that name
	}
	defer c.putDown(namespace)
	seen := c.takeUp(namespace)
	if seen.uid == "" {
		return nil // a new one of that name since a moment ago; its event is still on the way
	}
	err = c.deleter.deleteSeen(ctx, seen)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// StuckAfter is how long a pass may take before [Trace].PassStuck is told of it.
const StuckAfter = time.Minute
