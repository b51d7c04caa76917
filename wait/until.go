package wait

import (
	"context"
	"time"
)

// Forever calls f, waits for period, and starts over. It never returns.
//
// It is Until with [NeverStop]. A zero period runs f back to back.
func Forever(f func(), period time.Duration) {
	Until(f, period, NeverStop)
}

// Until calls f at once and then again, period after f has returned, until
// stopCh is closed or a value is sent on it.
//
// It is [JitterUntil] without jitter, sliding.
func Until(f func(), period time.Duration, stopCh <-chan struct{}) {
	JitterUntil(f, period, 0, true, stopCh)
}

// UntilWithContext is [Until], but stops when ctx is done. f receives ctx, so
// that a run in progress can end early as well.
func UntilWithContext(ctx context.Context, f func(context.Context), period time.Duration) {
	JitterUntilWithContext(ctx, f, period, 0, true)
}

// NonSlidingUntil calls f at once and then every period, counted from start to
// start, until stopCh is closed. A run that takes longer than period is
// followed by the next one at once; missed starts are not made up for.
//
// It is [JitterUntil] without jitter, non-sliding.
func NonSlidingUntil(f func(), period time.Duration, stopCh <-chan struct{}) {
	JitterUntil(f, period, 0, false, stopCh)
}

// NonSlidingUntilWithContext is [NonSlidingUntil], but stops when ctx is done.
func NonSlidingUntilWithContext(ctx context.Context, f func(context.Context), period time.Duration) {
	JitterUntilWithContext(ctx, f, period, 0, false)
}

// JitterUntil calls f, waits, and starts over, until stopCh is closed. It runs
// f on the caller's goroutine and returns only when stopped.
//
// The wait is period plus a random share of jitterFactor*period, drawn anew
// before each wait. With a jitterFactor of 0 or less it is exactly period.
//
// If sliding is true the wait begins when f has returned; if false it begins
// when f is called, and the time that f takes is part of it.
//
// stopCh is looked at before every run: once it is closed f is not called
// again, and if it is closed already f is not called at all. A run in progress
// is not interrupted; the form with a context lets f do that itself.
//
// A panic in f goes to [HandleCrash].
func JitterUntil(f func(), period time.Duration, jitterFactor float64, sliding bool, stopCh <-chan struct{}) {
	run := func(context.Context) { f() }
	JitterUntilWithContext(ContextForChannel(stopCh), run, period, jitterFactor, sliding)
}

// JitterUntilWithContext is [JitterUntil], but stops when ctx is done. f
// receives ctx.
func JitterUntilWithContext(ctx context.Context, f func(context.Context), period time.Duration, jitterFactor float64, sliding bool) {
	delay := func() time.Duration {
		if jitterFactor <= 0 {
			return period
		}
		return Jitter(period, jitterFactor)
	}
	BackoffUntilWithContext(ctx, f, delay, sliding)
}

// BackoffUntil is the loop of [JitterUntil] with any sequence of delays: delay
// is called once for each wait. See [Backoff.DelayFunc].
func BackoffUntil(f func(), delay DelayFunc, sliding bool, stopCh <-chan struct{}) {
	run := func(context.Context) { f() }
	BackoffUntilWithContext(ContextForChannel(stopCh), run, delay, sliding)
}

// BackoffUntilWithContext is [BackoffUntil], but stops when ctx is done. f
// receives ctx.
func BackoffUntilWithContext(ctx context.Context, f func(context.Context), delay DelayFunc, sliding bool) {
	t := timer{delay: delay}

	// The check is here, at the top, and not only in the select below: select
	// chooses at random when the timer and the stop are both ready, so after a
	// timer won, ctx may have ended long ago. Whatever ended ctx before this
	// line prevents the run; whatever ends it later is concurrent with f.
	for ctx.Err() == nil {
		if !sliding {
			t.Arm()
		}
		protect(ctx, f)
		if sliding {
			t.Arm()
		}

		select {
		case <-ctx.Done():
			return
		case <-t.C():
		}
	}
}

// protect runs f with a crash handler of its own, so that with crashing turned
// off a panic ends this run and not the loop.
func protect(ctx context.Context, f func(context.Context)) {
	defer HandleCrashWithContext(ctx)
	f(ctx)
}
