package api

import "context"

type singleAttemptKey struct{}

// WithSingleAttempt returns a context for the requests of a caller that has a back-off of its own, such as a
// Reflector: a client that is given it sends a request once and reports what came of it, Retry-After included.
//
// Two that repeat the same request multiply their attempts, and the inner one waits where the outer one, which knows
// what to do instead, cannot see it: a list at a version that the server has not reached is refused with Retry-After, and
// the remedy is another list, not the same one a second later.
func WithSingleAttempt(ctx context.Context) context.Context {
	return context.WithValue(ctx, singleAttemptKey{}, true)
}

// IsSingleAttempt tells whether ctx, or one that it was made from, came from [WithSingleAttempt].
func IsSingleAttempt(ctx context.Context) bool {
	return ctx.Value(singleAttemptKey{}) != nil
}
