package api

import (
	"context"
	"time"
)

type throttledKey struct{}

// WithThrottled returns a context for requests whose caller measures the server's response time.
// The client calls waits, on the goroutine of the request, before it makes the request wait for the
// client's own rate limit. A Reflector extends its timeout by that.
func WithThrottled(ctx context.Context, waits func(time.Duration)) context.Context {
	return context.WithValue(ctx, throttledKey{}, waits)
}

// Throttled calls the function of [WithThrottled], if any, before the request of ctx waits.
func Throttled(ctx context.Context, wait time.Duration) {
	if waits, ok := ctx.Value(throttledKey{}).(func(time.Duration)); ok {
		waits(wait)
	}
}

type singleAttemptKey struct{}

// WithSingleAttempt returns a context for callers with a back-off of their own, such as a
// Reflector: the client sends a request once and returns the result, including Retry-After.
//
// Nested retries multiply, and the inner one hides the refusal from the outer one, which knows a
// better recovery action: if the server has not reached the requested version, a Reflector sends
// another list and not the same one a second later.
func WithSingleAttempt(ctx context.Context) context.Context {
	return context.WithValue(ctx, singleAttemptKey{}, true)
}

// IsSingleAttempt reports whether ctx is derived from [WithSingleAttempt].
func IsSingleAttempt(ctx context.Context) bool {
	return ctx.Value(singleAttemptKey{}) != nil
}
