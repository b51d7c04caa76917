package wait

import "context"

// ExponentialBackoff asks condition until it returns true or an error, at most
// backoff.Steps times, and waits backoff.Step() between two calls. It returns
// nil, the condition's error, or [ErrWaitTimeout] when the attempts are used
// up; it never waits after the last attempt. With Steps below 1 the condition
// is not asked.
//
// Reaching Cap ends the sequence, as it does in Kubernetes: the wait during
// which the cap was reached is followed by one last attempt. (The original
// waits for it and then gives up without looking.)
//
// Nothing can interrupt the waits; prefer [ExponentialBackoffWithContext].
func ExponentialBackoff(backoff Backoff, condition ConditionFunc) error {
	return ExponentialBackoffWithContext(context.Background(), backoff, condition.WithContext())
}

// ExponentialBackoffWithContext is [ExponentialBackoff] that also ends with
// ctx, before an attempt and while waiting, and then returns ctx.Err().
func ExponentialBackoffWithContext(ctx context.Context, backoff Backoff, condition ConditionWithContextFunc) error {
	if backoff.Steps < 1 {
		return ErrWaitTimeout
	}
	t := timer{delay: backoff.Step}
	defer t.Stop()
	for last := backoff.Steps == 1; ; last = backoff.Steps <= 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if done, err := check(ctx, condition); done || err != nil {
			return err
		}
		if last {
			return ErrWaitTimeout
		}
		t.Arm()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C():
		}
	}
}
