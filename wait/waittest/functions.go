package waittest

import (
	"context"
	"time"
)

// Functions are the functions of a package wait that have a form each. C is its type of a condition,
// and D that of one with a context.
type Functions[C ~func() (bool, error), D ~func(context.Context) (bool, error)] struct {
	Until, NonSlidingUntil                       func(f func(), period time.Duration, stop <-chan struct{})
	UntilWithContext, NonSlidingUntilWithContext func(ctx context.Context, f func(context.Context),
		period time.Duration)
	JitterUntil func(f func(), period time.Duration, factor float64, sliding bool,
		stop <-chan struct{})
	JitterUntilWithContext, BackoffUntilWithContext LoopFunc

	Poll                    func(interval, timeout time.Duration, condition C) error
	PollUntil               func(interval time.Duration, condition C, stop <-chan struct{}) error
	PollUntilContextTimeout func(ctx context.Context, interval, timeout time.Duration, immediate bool,
		condition D) error
	PollUntilContextCancel func(ctx context.Context, interval time.Duration, immediate bool, condition D) error
}

// Loops returns the forms of JitterUntil.
func (w Functions[C, D]) Loops() []Loop {
	until := func(until func(func(), time.Duration, <-chan struct{})) LoopFunc {
		return func(ctx context.Context, f func(context.Context), period time.Duration, _ float64, _ bool) {
			until(func() { f(context.Background()) }, period, ctx.Done())
		}
	}
	withContext := func(until func(context.Context, func(context.Context), time.Duration)) LoopFunc {
		return func(ctx context.Context, f func(context.Context), period time.Duration, _ float64, _ bool) {
			until(ctx, f, period)
		}
	}
	jitter := func(ctx context.Context, f func(context.Context), period time.Duration, factor float64, sliding bool) {
		w.JitterUntil(func() { f(context.Background()) }, period, factor, sliding, ctx.Done())
	}
	return []Loop{
		{Name: "Until", Sliding: true, Run: until(w.Until)},
		{Name: "UntilWithContext", Sliding: true, Contexts: true, Run: withContext(w.UntilWithContext)},
		{Name: "NonSlidingUntil", Run: until(w.NonSlidingUntil)},
		{Name: "NonSlidingUntilWithContext", Contexts: true, Run: withContext(w.NonSlidingUntilWithContext)},
		{Name: "JitterUntil", Jitters: true, Run: jitter},
		{Name: "JitterUntilWithContext", Jitters: true, Contexts: true, Run: w.JitterUntilWithContext},
		{Name: "BackoffUntilWithContext", Jitters: true, Contexts: true, Run: w.BackoffUntilWithContext},
	}
}

// Polls returns the forms of Poll.
func (w Functions[C, D]) Polls() []Poll {
	timeout := func(immediate bool) PollFunc {
		return func(ctx context.Context, interval, timeout time.Duration, condition Condition) error {
			return w.PollUntilContextTimeout(ctx, interval, timeout, immediate, D(condition))
		}
	}
	cancel := func(immediate bool) PollFunc {
		return func(ctx context.Context, interval, _ time.Duration, condition Condition) error {
			return w.PollUntilContextCancel(ctx, interval, immediate, D(condition))
		}
	}
	plain := func(condition Condition) C { return func() (bool, error) { return condition(context.Background()) } }
	return []Poll{
		{Name: "PollUntilContextTimeout", Timeout: true, Stops: true, Contexts: true, Run: timeout(false)},
		{Name: "PollUntilContextTimeout immediate", Immediate: true, Timeout: true, Stops: true, Contexts: true,
			Run: timeout(true)},
		{Name: "PollUntilContextCancel", Stops: true, Contexts: true, Run: cancel(false)},
		{Name: "PollUntilContextCancel immediate", Immediate: true, Stops: true, Contexts: true, Run: cancel(true)},
		{Name: "Poll", Legacy: true, Timeout: true,
			Run: func(_ context.Context, interval, timeout time.Duration, condition Condition) error {
				return w.Poll(interval, timeout, plain(condition))
			}},
		{Name: "PollUntil", Legacy: true, Stops: true,
			Run: func(ctx context.Context, interval, _ time.Duration, condition Condition) error {
				return w.PollUntil(interval, plain(condition), ctx.Done())
			}},
	}
}
