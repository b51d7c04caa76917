package wait

import (
	"context"
	"errors"
	"time"
)

// ConditionFunc reports whether what was waited for has come. An error ends
// the waiting and is returned from it as it is.
type ConditionFunc func() (done bool, err error)

// ConditionWithContextFunc is a [ConditionFunc] that receives the context of
// the wait.
type ConditionWithContextFunc func(ctx context.Context) (done bool, err error)

// WithContext turns cf into a condition that ignores the context.
func (cf ConditionFunc) WithContext() ConditionWithContextFunc {
	return func(context.Context) (bool, error) { return cf() }
}

// check asks the condition once. A panic goes to HandleCrash; if that returns
// (crashing is turned off) the answer is the zero one: not done, no error.
func check(ctx context.Context, condition ConditionWithContextFunc) (done bool, err error) {
	defer HandleCrashWithContext(ctx)
	return condition(ctx)
}

// PollUntilContextCancel asks condition every interval until it returns true
// or an error, or until ctx ends. It returns nil, the condition's error, or
// ctx.Err().
//
// With immediate the condition is asked at once, even if ctx has ended
// already; without it only after the first interval.
//
// The interval is the pace of the calls, not the pause between them. One tick
// is kept while the condition runs: a condition that takes longer than
// interval is asked again at once, and then falls into step with the clock
// again. An interval of 0 or less asks back to back.
func PollUntilContextCancel(ctx context.Context, interval time.Duration, immediate bool, condition ConditionWithContextFunc) error {
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

// PollUntilContextTimeout is [PollUntilContextCancel] that also ends after
// timeout, with context.DeadlineExceeded. The condition receives the context
// with that deadline.
func PollUntilContextTimeout(ctx context.Context, interval, timeout time.Duration, immediate bool, condition ConditionWithContextFunc) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return PollUntilContextCancel(ctx, interval, immediate, condition)
}

// newPace returns a channel that delivers a tick every interval and keeps at
// most one that was not taken. For an interval of 0 or less there is always a
// tick to take, where time.NewTicker would panic.
//
// Neither its ticker nor any other timer of this package is stopped: since Go
// 1.23 one to which nothing refers any more is collected, running or not.
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

// ErrWaitTimeout says that waiting ended before the condition came true. The
// first generation of the Poll family and [ExponentialBackoff] return it. Ask
// with [Interrupted], which knows the second generation's errors as well.
var ErrWaitTimeout = errors.New("timed out waiting for the condition")

// Interrupted reports whether err says that a wait ended because time was up
// or it was stopped, in contrast to a condition that failed. It is true
// for [ErrWaitTimeout], context.Canceled and context.DeadlineExceeded, also
// when wrapped.
func Interrupted(err error) bool {
	return errors.Is(err, ErrWaitTimeout) ||
		errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}
