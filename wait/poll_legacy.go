package wait

import (
	"context"
	"time"
)

// The functions in this file are of the first generation. Kubernetes marks them as deprecated, and
// its components are full of them. They differ from PollUntilContext... in three ways:
//
//   - timeout and stop are both reported as ErrWaitTimeout;
//   - when the timeout has passed, the condition is called one last time;
//   - ticks during a call of the condition are dropped.
//
// If the timeout falls on a tick, one call serves as both. (In apimachinery that is decided by
// chance.)

// Poll calls condition every interval, first after one interval, until it returns true or an error,
// or until timeout has passed; a timeout of 0 means none. It returns nil, the condition's error, or
// [ErrWaitTimeout].
func Poll(interval, timeout time.Duration, condition ConditionFunc) error {
	return pollLegacy(context.Background(), interval, timeout, condition.WithContext())
}

// PollUntil calls condition every interval, first after one interval, until it returns true or an
// error or stopCh is closed. It returns nil, the condition's error, or [ErrWaitTimeout].
func PollUntil(interval time.Duration, condition ConditionFunc, stopCh <-chan struct{}) error {
	return pollLegacy(ContextForChannel(stopCh), interval, 0, condition.WithContext())
}

// pollLegacy implements both. A timeout of 0 means none.
func pollLegacy(ctx context.Context, interval, timeout time.Duration, condition ConditionWithContextFunc) error {
	ticks := newPace(interval)
	began := time.Now()
	var end <-chan time.Time // nil, which never delivers, without a timeout
	if timeout != 0 {
		end = time.After(timeout)
	}
	for last := false; !last; {
		select {
		case <-ctx.Done():
			return ErrWaitTimeout
		case <-end:
			last = true
		case <-ticks:
			// A tick at the very end is the last one. Check the clock, not end: of two timers that
			// are due together one fires first.
			last = timeout != 0 && time.Since(began) >= timeout
		}
		if ctx.Err() != nil {
			return ErrWaitTimeout
		}
		if done, err := check(ctx, condition); done || err != nil {
			return err
		}
		select { // drop a tick that fired while the condition ran
		case <-ticks:
		default:
		}
	}
	return ErrWaitTimeout
}
