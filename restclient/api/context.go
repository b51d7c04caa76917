package api

import (
	"context"
	"time"
)

type throttledKey struct{}

// WithThrottled returns a context for requests whose caller measures how long the server takes. The client calls waits, on the
// goroutine of the request, before it makes the request wait for the client's own rate limit. A Reflector allows the server that much longer
// to answer.
func WithThrottled(ctx context.Context, waits func(time.Duration)) context.Context {
	return context.WithValue(ctx, throttledKey{}, waits)
}

// Throttled tells the caller of [WithThrottled], if there is one, that the request of ctx is going to wait.
func Throttled(ctx context.Context, wait time.Duration) {
	if waits, ok := ctx.Value(throttledKey{}).(func(time.Duration)); ok {
		waits(wait)
	}
}

type singleAttemptKey struct{}

// WithSingleAttempt returns a context for the requests of a caller that has a back-off of its own, such as a
// Reflector: a client that is given it sends a request once and reports what came of it, Retry-After included.
//
// Two that repeat the same request multiply their attempts, and the inner one waits where the outer one, which knows
// what to do instead, cannot see it: a list at a version that the server has not reached is refused with Retry-After, and
// the recovery is another list, not the same one a second later.
func WithSingleAttempt(ctx context.Context) context.Context {
	return context.WithValue(ctx, singleAttemptKey{}, true)
}

// IsSingleAttempt reports whether ctx, or one that it was made from, came from [WithSingleAttempt].
func IsSingleAttempt(ctx context.Context) bool {
	return ctx.Value(singleAttemptKey{}) != nil
}
