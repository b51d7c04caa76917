package wait

import (
	"context"
	"errors"
	"time"
)

// ConditionFunc reports whether the condition is true. An error ends the wait, which returns it
// unchanged.
type ConditionFunc func() (done bool, err error)

// ConditionWithContextFunc is a [ConditionFunc] that receives the context of
// the wait.
type ConditionWithContextFunc func(ctx context.Context) (done bool, err error)

// WithContext turns cf into a condition that ignores the context.
func (cf ConditionFunc) WithContext() ConditionWithContextFunc {
	return func(context.Context) (bool, error) { return cf() }
}

// check calls the condition once. If it panics and crashing is off, the result is: not done, no
// error.
func check(ctx context.Context, condition ConditionWithContextFunc) (done bool, err error) {
	defer HandleCrashWithContext(ctx)
	return condition(ctx)
}

// PollUntilContextCancel calls condition every interval until it returns true or an error, or until
// ctx ends. It returns nil, the condition's error, or ctx.Err().
//
// With immediate, the first call is at once, even if ctx has already ended; otherwise it is after
// the first interval.
//
// The interval is the pace of the calls, not the pause between them. A condition that takes longer
// is called again at once, and then follows the ticks again. With an interval of 0 or less the
// calls are back to back.
func PollUntilContextCancel(ctx context.Context, interval time.Duration, immediate bool,
	condition ConditionWithContextFunc) error {
	ticks := newPace(interval)
	if immediate {
		if done, err := check(ctx, condition); done || err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks:
		}
		// Both may have been ready; see BackoffUntilWithContext.
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err := check(ctx, condition); done || err != nil {
			return err
		}
	}
}

// PollUntilContextTimeout is [PollUntilContextCancel] that also ends after timeout, with
// context.DeadlineExceeded. The condition receives the context with that deadline.
func PollUntilContextTimeout(ctx context.Context, interval, timeout time.Duration, immediate bool,
	condition ConditionWithContextFunc) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return PollUntilContextCancel(ctx, interval, immediate, condition)
}

// newPace returns a channel that delivers a tick every interval and keeps at most one pending tick.
// For an interval of 0 or less a tick is always pending, where time.NewTicker would panic.
//
// Neither its ticker nor any other timer of this package is stopped: since Go 1.23 an unreferenced
// timer is collected, running or not.
func newPace(interval time.Duration) <-chan time.Time {
	if interval > 0 {
		return time.NewTicker(interval).C
	}
	// Each pace has a closed channel of its own, because a synctest bubble cannot
	// wait on a channel from outside.
	always := make(chan time.Time)
	close(always)
	return always
}

// ErrWaitTimeout says that waiting ended before the condition became true. The first generation of
// the Poll functions returns it. Use [Interrupted], which also recognizes the second generation's
// errors.
var ErrWaitTimeout = errors.New("timed out waiting for the condition")

// Interrupted reports whether err says that a wait was stopped or timed out, rather than that a
// condition failed. It is true for [ErrWaitTimeout], context.Canceled and context.DeadlineExceeded,
// wrapped or not.
func Interrupted(err error) bool {
	return errors.Is(err, ErrWaitTimeout) ||
		errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}
