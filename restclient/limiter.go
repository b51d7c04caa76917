package restclient

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"orrery/wait"
)

// newLimiter returns nil, which means no limit, for a negative rate.
func newLimiter(qps float32, burst int) *rate.Limiter {
	if qps < 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(qps), burst)
}

// takeToken blocks until the request may be sent, and returns how long that is. Requests leave in the order in which they came.
// One whose context ends, or whose deadline is known to come first, hands its token back.
func takeToken(ctx context.Context, limiter *rate.Limiter) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	token := limiter.Reserve()
	delay := token.Delay()
	if delay == 0 {
		return 0, nil
	}
	if endsBefore(ctx, delay) {
		token.Cancel()
		return delay, context.DeadlineExceeded
	}
	if err := wait.Sleep(ctx, delay); err != nil {
		token.Cancel()
		return delay, err
	}
	return delay, nil
}
