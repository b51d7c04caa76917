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
