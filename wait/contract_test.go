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
	functions := waittest.Functions[wait.ConditionFunc, wait.ConditionWithContextFunc]{
		Until: wait.Until, NonSlidingUntil: wait.NonSlidingUntil,
		UntilWithContext: wait.UntilWithContext, NonSlidingUntilWithContext: wait.NonSlidingUntilWithContext,
		JitterUntil: wait.JitterUntil, JitterUntilWithContext: wait.JitterUntilWithContext,
		Poll: wait.Poll, PollUntil: wait.PollUntil,
		PollUntilContextTimeout: wait.PollUntilContextTimeout, PollUntilContextCancel: wait.PollUntilContextCancel,
		BackoffUntilWithContext: func(ctx context.Context, f func(context.Context), period time.Duration,
			factor float64, sliding bool) {
			delay := wait.Backoff{Duration: period, Jitter: factor}.DelayFunc()
			wait.BackoffUntilWithContext(ctx, f, delay, sliding)
		},
	}
	waittest.Run(t, waittest.Implementation{
		Name:    "orrery/wait",
		Forever: wait.Forever,
		Loops:   functions.Loops(),
		Jitter:  wait.Jitter,
		Polls:   functions.Polls(),
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
