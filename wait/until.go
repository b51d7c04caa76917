package wait

import (
	"context"
	"math"
	"math/rand/v2"
	"time"
)

// Forever calls f, waits for period, and repeats. It never returns. It is Until with [NeverStop]. A
// zero period runs f back to back.
func Forever(f func(), period time.Duration) {
	Until(f, period, NeverStop)
}

// Until calls f at once and then again, period after f has returned, until stopCh is closed or a
// value is sent on it. So does every form with a stopCh.
//
// It is [JitterUntil] without jitter, sliding.
func Until(f func(), period time.Duration, stopCh <-chan struct{}) {
	JitterUntil(f, period, 0, true, stopCh)
}

// UntilWithContext is [Until] that stops when ctx is done. f receives ctx, so that a run in
// progress can end early as well.
func UntilWithContext(ctx context.Context, f func(context.Context), period time.Duration) {
	JitterUntilWithContext(ctx, f, period, 0, true)
}

// NonSlidingUntil calls f at once and then every period, counted from start to start, until stopCh
// is closed. A run that takes longer than period is followed by the next one at once; missed starts
// are not made up for.
//
//	sliding      run 2 s | period 5 s   | run 2 s | period 5 s   | run
//	non-sliding  run 2 s | 3 s | run 2 s | 3 s | run 2 s
//
// It is [JitterUntil] without jitter, non-sliding.
func NonSlidingUntil(f func(), period time.Duration, stopCh <-chan struct{}) {
	JitterUntil(f, period, 0, false, stopCh)
}

// NonSlidingUntilWithContext is [NonSlidingUntil] that stops when ctx is done.
func NonSlidingUntilWithContext(ctx context.Context, f func(context.Context), period time.Duration) {
	JitterUntilWithContext(ctx, f, period, 0, false)
}

// JitterUntil calls f, waits, and repeats, until stopCh is closed. It runs f on the caller's
// goroutine and returns only when stopped.
//
// The wait is period plus a random share of jitterFactor*period, drawn for each wait. With a
// jitterFactor of 0 or less it is exactly period.
//
// If sliding is true, the wait begins when f has returned; otherwise it begins when f is called and
// includes the time that f takes.
//
// stopCh itself is checked before every run: once it is closed no new run of f begins, not even the
// first.
// A run in progress is not interrupted; the form with a context lets f do that itself.
//
// A panic in f goes to [HandleCrash].
func JitterUntil(f func(), period time.Duration, jitterFactor float64, sliding bool, stopCh <-chan struct{}) {
	run := func(context.Context) { f() }
	JitterUntilWithContext(ContextForChannel(stopCh), run, period, jitterFactor, sliding)
}

// JitterUntilWithContext is [JitterUntil] that stops when ctx is done. f receives ctx. It is
// BackoffUntilWithContext with a delay that is period if jitterFactor is 0 or less, and [Jitter] of
// period otherwise.
func JitterUntilWithContext(
	ctx context.Context, f func(context.Context), period time.Duration, jitterFactor float64, sliding bool,
) {
	delay := func() time.Duration {
		if jitterFactor <= 0 {
			return period
		}
		return Jitter(period, jitterFactor)
	}
	BackoffUntilWithContext(ctx, f, delay, sliding)
}

// Jitter returns a random duration d with
//
//	duration <= d <= duration + maxFactor*duration
//
// so that clients that started together drift apart. A maxFactor of 0 or less means 1.0 here, as in
// Kubernetes; in [JitterUntil] it means no jitter.
//
// A result that would overflow is the longest possible duration. A duration of 0 or less is
// returned unchanged.
func Jitter(duration time.Duration, maxFactor float64) time.Duration {
	if maxFactor <= 0 {
		maxFactor = 1
	}
	if duration <= 0 {
		return duration
	}
	// The share is computed in floating point and added in integers: a float64
	// cannot hold every duration, and the result must not be below duration.
	share := scale(duration, rand.Float64()*maxFactor)
	if sum := duration + share; sum >= duration {
		return sum
	}
	return math.MaxInt64
}

// BackoffUntilWithContext is the loop of [JitterUntilWithContext] with any sequence of delays: it
// calls delay once for each wait. See [Backoff.DelayFunc].
//
// Each round runs f with protect, arms the timer with the next delay (before f, or after it if
// sliding), and waits for the timer or the end of ctx. If ctx has ended before a round, f is not
// called any more, even if the timer is ready as well.
func BackoffUntilWithContext(ctx context.Context, f func(context.Context), delay DelayFunc, sliding bool) {
	t := timer{delay: delay}

	// The check is here, not only in the select below: select chooses at random when the timer and
	// the stop are both ready, so ctx may have ended long before the timer won. A stop before this
	// line prevents the run; a later one is concurrent with f.
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

// protect runs f and passes a panic of f to [HandleCrashWithContext]. Each run has a crash handler
// of its own: with crashing off, a panic ends this run and not the loop.
func protect(ctx context.Context, f func(context.Context)) {
	defer HandleCrashWithContext(ctx)
	f(ctx)
}
