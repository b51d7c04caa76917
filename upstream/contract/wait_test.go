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
	functions := waittest.Functions[wait.ConditionFunc, wait.ConditionWithContextFunc]{
		Until: wait.Until, NonSlidingUntil: wait.NonSlidingUntil,
		UntilWithContext: wait.UntilWithContext, NonSlidingUntilWithContext: wait.NonSlidingUntilWithContext,
		JitterUntil: wait.JitterUntil, JitterUntilWithContext: wait.JitterUntilWithContext,
		Poll: wait.Poll, PollUntil: wait.PollUntil,
		PollUntilContextTimeout: wait.PollUntilContextTimeout, PollUntilContextCancel: wait.PollUntilContextCancel,
		BackoffUntilWithContext: func(ctx context.Context, f func(context.Context), period time.Duration,
			factor float64, sliding bool) {
			timer := wait.NewJitteredBackoffManager(period, factor, clock.RealClock{})
			wait.BackoffUntilWithContext(ctx, f, timer, sliding)
		},
	}
	waittest.Run(t, waittest.Implementation{
		Name:    "k8s.io/apimachinery/pkg/util/wait",
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
