package contract

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"orrery/wait/waittest"
)

// TestWait runs the contract of package wait against apimachinery's.
func TestWait(t *testing.T) {
	waittest.Run(t, waittest.Implementation{
		Name:    "k8s.io/apimachinery/pkg/util/wait",
		Forever: wait.Forever,
		Loops:   waitLoops(),
		Jitter:  wait.Jitter,
		Polls:   append(waitPolls(), waitLegacyPolls()...),
		NewBackoff: func(b waittest.Backoff) (func() time.Duration, func() int) {
			backoff := wait.Backoff(b)
			return backoff.Step, func() int { return backoff.Steps }
		},
		ContextForChannel: wait.ContextForChannel,
		NewGroup:          func() waittest.Group { return &wait.Group{} },
		ErrWaitTimeout:    wait.ErrWaitTimeout,
		Interrupted:       wait.Interrupted,
		Protect:           waitProtect,
		SetReallyCrash:    func(crash bool) { runtime.ReallyCrash = crash },
		OnPanic: func(handler func(context.Context, any)) (restore func()) {
			before := runtime.PanicHandlers
			runtime.PanicHandlers = []func(context.Context, any){handler}
			return func() { runtime.PanicHandlers = before }
		},
		Lacks: map[waittest.Capability]string{
			waittest.SaturatingDurations: "Backoff multiplies without a limit when there is no Cap; the product " +
				"becomes negative and the loop stops waiting",
		},
	})
}

func waitProtect(ctx context.Context, f func(), handler func(value any)) {
	if handler == nil {
		defer runtime.HandleCrashWithContext(ctx)
	} else {
		defer runtime.HandleCrashWithContext(ctx, func(_ context.Context, value any) { handler(value) })
	}
	f()
}

type waitBody = func(context.Context)

// waitPlain adapts a function without a context.
func waitPlain(f waitBody) func() { return func() { f(context.Background()) } }

func waitLoops() []waittest.Loop {
	timer := func(period time.Duration, factor float64) wait.BackoffManager {
		return wait.NewJitteredBackoffManager(period, factor, clock.RealClock{})
	}
	return []waittest.Loop{
		{Name: "Until", Sliding: true, Run: func(ctx context.Context, f waitBody, period time.Duration, _ float64,
			_ bool) {
			wait.Until(waitPlain(f), period, ctx.Done())
		}},
		{Name: "UntilWithContext", Sliding: true, Contexts: true,
			Run: func(ctx context.Context, f waitBody, period time.Duration, _ float64, _ bool) {
				wait.UntilWithContext(ctx, f, period)
			}},
		{Name: "NonSlidingUntil", Run: func(ctx context.Context, f waitBody, period time.Duration, _ float64, _ bool) {
			wait.NonSlidingUntil(waitPlain(f), period, ctx.Done())
		}},
		{Name: "NonSlidingUntilWithContext", Contexts: true,
			Run: func(ctx context.Context, f waitBody, period time.Duration, _ float64, _ bool) {
				wait.NonSlidingUntilWithContext(ctx, f, period)
			}},
		{Name: "JitterUntil", Jitters: true, Run: func(ctx context.Context, f waitBody, period time.Duration,
			factor float64, sliding bool) {
			wait.JitterUntil(waitPlain(f), period, factor, sliding, ctx.Done())
		}},
		{Name: "JitterUntilWithContext", Jitters: true, Contexts: true, Run: wait.JitterUntilWithContext},
		{Name: "BackoffUntilWithContext", Jitters: true, Contexts: true,
			Run: func(ctx context.Context, f waitBody, period time.Duration, factor float64, sliding bool) {
				wait.BackoffUntilWithContext(ctx, f, timer(period, factor), sliding)
			}},
	}
}

// waitAsked adapts a condition without a context.
func waitAsked(condition waittest.Condition) wait.ConditionFunc {
	return func() (bool, error) { return condition(context.Background()) }
}

type waitPoll = func(ctx context.Context, interval, timeout time.Duration, condition waittest.Condition) error

func waitPolls() []waittest.Poll {
	timeout := func(immediate bool) waitPoll {
		return func(ctx context.Context, interval, timeout time.Duration, condition waittest.Condition) error {
			return wait.PollUntilContextTimeout(ctx, interval, timeout, immediate, condition)
		}
	}
	cancel := func(immediate bool) waitPoll {
		return func(ctx context.Context, interval, _ time.Duration, condition waittest.Condition) error {
			return wait.PollUntilContextCancel(ctx, interval, immediate, condition)
		}
	}
	return []waittest.Poll{
		{Name: "PollUntilContextTimeout", Timeout: true, Stops: true, Contexts: true, Run: timeout(false)},
		{Name: "PollUntilContextTimeout immediate", Immediate: true, Timeout: true, Stops: true, Contexts: true,
			Run: timeout(true)},
		{Name: "PollUntilContextCancel", Stops: true, Contexts: true, Run: cancel(false)},
		{Name: "PollUntilContextCancel immediate", Immediate: true, Stops: true, Contexts: true, Run: cancel(true)},
	}
}

func waitLegacyPolls() []waittest.Poll {
	return []waittest.Poll{
		{Name: "Poll", Legacy: true, Timeout: true,
			Run: func(_ context.Context, interval, timeout time.Duration, c waittest.Condition) error {
				return wait.Poll(interval, timeout, waitAsked(c))
			}},
		{Name: "PollUntil", Legacy: true, Stops: true,
			Run: func(ctx context.Context, interval, _ time.Duration, c waittest.Condition) error {
				return wait.PollUntil(interval, waitAsked(c), ctx.Done())
			}},
	}
}
