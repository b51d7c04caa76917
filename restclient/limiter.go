package restclient

import (
	"context"
	"math"
	"sync"
	"time"

	"orrery/restclient/api"
	"orrery/wait"
)

// limiter is a token bucket: it holds up to burst tokens, gains rate tokens a second, and each request takes one.
// A request that finds the bucket empty takes its token all the same, which makes the number negative, and waits until
// the refill has paid for it. So waiting requests leave in the order in which they came. One that gives up hands its
// token back to those who come later; those who wait already keep the time that they were given.
type limiter struct {
	rate  float64 // tokens per second, > 0
	burst float64 // >= 1

	mu     sync.Mutex
	tokens float64 // at the time last; never above burst
	last   time.Time
}

// newLimiter returns nil, which means no limit, for a negative rate.
func newLimiter(qps float32, burst int) *limiter {
	if qps < 0 {
		return nil
	}
	return &limiter{rate: float64(qps), burst: float64(burst), tokens: float64(burst), last: time.Now()}
}

// wait takes a token and blocks until it is due. It returns how long that is, and the context's error if the context
// ends first. When its deadline is known to come first it does not wait for it.
func (l *limiter) wait(ctx context.Context) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	delay := l.take()
	if delay == 0 {
		return 0, nil
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < delay {
		l.giveBack()
		return delay, context.DeadlineExceeded
	}
	api.Throttled(ctx, delay)
	if err := wait.Sleep(ctx, delay); err != nil {
		l.giveBack()
		return delay, err
	}
	return delay, nil
}

func (l *limiter) take() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refillLocked()
	l.tokens--
	if l.tokens >= 0 {
		return 0
	}
	return time.Duration(math.Ceil(-l.tokens / l.rate * float64(time.Second)))
}

func (l *limiter) giveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refillLocked()
	l.tokens = min(l.tokens+1, l.burst)
}

func (l *limiter) available() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refillLocked()
	return l.tokens
}

func (l *limiter) refillLocked() {
	now := time.Now()
	l.tokens = min(l.burst, l.tokens+now.Sub(l.last).Seconds()*l.rate)
	l.last = now
}
