package queue

import (
	"math/rand/v2"
	"time"
)

// WithJitterRateLimiter asks another limiter and adds a random part, so that keys
// that failed together do not come back together. (No limiter of the original
// does that.) Put it inside WithMaxWaitRateLimiter to keep a maximum.
type WithJitterRateLimiter[K comparable] struct {
	RateLimiter[K]
	factor float64
}

// NewWithJitterRateLimiter makes each wait d of limiter into a random one between
// d and d + factor·d. A factor that is not positive adds nothing.
func NewWithJitterRateLimiter[K comparable](limiter RateLimiter[K], factor float64) *WithJitterRateLimiter[K] {
	return &WithJitterRateLimiter[K]{RateLimiter: limiter, factor: max(factor, 0)}
}

// When counts one more failure of key and returns how long key has to wait.
func (l *WithJitterRateLimiter[K]) When(key K) time.Duration {
	wait := l.RateLimiter.When(key)
	extra := rand.Float64() * l.factor * float64(wait)
	if extra >= float64(never-wait) {
		return never
	}
	return wait + time.Duration(extra)
}
