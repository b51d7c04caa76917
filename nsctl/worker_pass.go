package nsctl

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrCutShort is what a pass ends with that was still under way when the drain timeout was over. It is a
// context.Canceled.
var ErrCutShort = fmt.Errorf("the controller was told to stop, and the time to finish was over: %w", context.Canceled)

// ErrPassTimeout is what a pass ends with that took longer than Config.PassTimeout. It is a context.DeadlineExceeded.
var ErrPassTimeout = fmt.Errorf("the pass has not ended in time, some request is not answered: %w", context.DeadlineExceeded)

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
	if panicked, ok := errors.AsType[*PanicError](err); ok {
		c.trace.passPanicked(name, panicked)
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
	err = c.deleter.deleteSeen(ctx, c.takeUp(namespace))
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// StuckAfter is how long a pass may take before [Trace].PassStuck is told of it.
const StuckAfter = time.Minute
