package wait

import (
	"context"
	"time"
)

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
	p := newPace(interval)
	defer p.Stop()
	if immediate {
		if done, err := check(ctx, condition); done || err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.C:
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

// pace delivers a tick every interval and keeps at most one that nobody has
// taken. For an interval of 0 or less there is always a tick to take, where
// time.NewTicker would panic.
type pace struct {
	C      <-chan time.Time
	ticker *time.Ticker // nil if always ready
}

// alwaysReady is a closed channel. Each pace makes its own instead of sharing
// one, because a synctest bubble cannot wait on a channel from outside.
func alwaysReady() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}

func newPace(interval time.Duration) pace {
	if interval <= 0 {
		return pace{C: alwaysReady()}
	}
	t := time.NewTicker(interval)
	return pace{C: t.C, ticker: t}
}

// Forget drops the tick that came while the caller was busy, if there is one.
func (p pace) Forget() {
	if p.ticker == nil {
		return
	}
	select {
	case <-p.C:
	default:
	}
}

// Stop releases the ticker.
func (p pace) Stop() {
	if p.ticker != nil {
		p.ticker.Stop()
	}
}
