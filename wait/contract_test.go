package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/wait"
	"orrery/wait/waittest"
)

// TestContract runs the common suite against this package.
func TestContract(t *testing.T) {
	waittest.Run(t, waittest.Implementation{
		Name:    "orrery/wait",
		Forever: wait.Forever,
		Loops:   loops(),
		Jitter:  wait.Jitter,
		Polls:   append(polls(), legacyPolls()...),
		NewBackoff: func(b waittest.Backoff) (func() time.Duration, func() int) {
			backoff := wait.Backoff(b)
			return backoff.Step, func() int { return backoff.Steps }
		},
		ContextForChannel: wait.ContextForChannel,
		NewGroup:          func() waittest.Group { return &wait.Group{} },
		ErrWaitTimeout:    wait.ErrWaitTimeout,
		Interrupted:       wait.Interrupted,
		Protect:           protect,
		SetReallyCrash:    wait.ReallyCrash.Store,
		OnPanic: func(handler func(context.Context, any)) (restore func()) {
			return wait.PanicHandlers.Replace(func(ctx context.Context, p *wait.Panic) { handler(ctx, p.Value) })
		},
	})
}

func protect(ctx context.Context, f func(), handler func(value any)) {
	if handler == nil {
		defer wait.HandleCrashWithContext(ctx)
	} else {
		defer wait.HandleCrashWithContext(ctx, func(_ context.Context, p *wait.Panic) { handler(p.Value) })
	}
	f()
}

type (
	loopBody = func(context.Context)
	pollFunc = func(ctx context.Context, interval, timeout time.Duration, condition waittest.Condition) error
)

// plain makes the function of a form without a context out of a loop's f.
func plain(f loopBody) func() { return func() { f(context.Background()) } }

func loops() []waittest.Loop {
	return []waittest.Loop{
		{Name: "Until", Sliding: true, Run: func(ctx context.Context, f loopBody, period time.Duration, _ float64,
			_ bool) {
			wait.Until(plain(f), period, ctx.Done())
		}},
		{Name: "UntilWithContext", Sliding: true, Contexts: true,
			Run: func(ctx context.Context, f loopBody, period time.Duration, _ float64, _ bool) {
				wait.UntilWithContext(ctx, f, period)
			}},
		{Name: "NonSlidingUntil", Run: func(ctx context.Context, f loopBody, period time.Duration, _ float64, _ bool) {
			wait.NonSlidingUntil(plain(f), period, ctx.Done())
		}},
		{Name: "NonSlidingUntilWithContext", Contexts: true,
			Run: func(ctx context.Context, f loopBody, period time.Duration, _ float64, _ bool) {
				wait.NonSlidingUntilWithContext(ctx, f, period)
			}},
		{Name: "JitterUntil", Jitters: true, Run: func(ctx context.Context, f loopBody, period time.Duration,
			factor float64, sliding bool) {
			wait.JitterUntil(plain(f), period, factor, sliding, ctx.Done())
		}},
		{Name: "JitterUntilWithContext", Jitters: true, Contexts: true, Run: wait.JitterUntilWithContext},
		{Name: "BackoffUntilWithContext", Jitters: true, Contexts: true,
			Run: func(ctx context.Context, f loopBody, period time.Duration, factor float64, sliding bool) {
				wait.BackoffUntilWithContext(ctx, f, wait.Backoff{Duration: period, Jitter: factor}.DelayFunc(),
					sliding)
			}},
	}
}

// asked makes the condition of a form without a context.
func asked(condition waittest.Condition) wait.ConditionFunc {
	return func() (bool, error) { return condition(context.Background()) }
}

func polls() []waittest.Poll {
	timeout := func(immediate bool) pollFunc {
		return func(ctx context.Context, interval, timeout time.Duration, condition waittest.Condition) error {
			return wait.PollUntilContextTimeout(ctx, interval, timeout, immediate, condition)
		}
	}
	cancel := func(immediate bool) pollFunc {
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

func legacyPolls() []waittest.Poll {
	return []waittest.Poll{
		{Name: "Poll", Legacy: true, Timeout: true,
			Run: func(_ context.Context, interval, timeout time.Duration, c waittest.Condition) error {
				return wait.Poll(interval, timeout, asked(c))
			}},
		{Name: "PollUntil", Legacy: true, Stops: true,
			Run: func(ctx context.Context, interval, _ time.Duration, c waittest.Condition) error {
				return wait.PollUntil(interval, asked(c), ctx.Done())
			}},
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		assert.NoError(t, wait.Sleep(t.Context(), time.Minute))
		assert.Equal(t, time.Minute, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, wait.Sleep(ctx, time.Hour), context.DeadlineExceeded)
		assert.Equal(t, time.Minute+time.Second, time.Since(began))

		assert.NoError(t, wait.Sleep(t.Context(), 0))
		assert.NoError(t, wait.Sleep(t.Context(), -time.Second))
		assert.ErrorIs(t, wait.Sleep(ctx, 0), context.DeadlineExceeded,
			"Sleep checks ctx even if there is nothing to wait for")
		assert.Equal(t, time.Minute+time.Second, time.Since(began))
	})
}
