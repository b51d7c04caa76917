package queue

import "time"

// WithMaxWaitRateLimiter asks another limiter but never waits longer than a
// maximum.
type WithMaxWaitRateLimiter[K comparable] struct {
	RateLimiter[K]
	longest time.Duration
}

// NewWithMaxWaitRateLimiter limits the waits of limiter to longest.
func NewWithMaxWaitRateLimiter[K comparable](limiter RateLimiter[K], longest time.Duration) *WithMaxWaitRateLimiter[K] {
	return &WithMaxWaitRateLimiter[K]{RateLimiter: limiter, longest: longest}
}

// When counts one more failure of key and returns how long key has to wait.
func (l *WithMaxWaitRateLimiter[K]) When(key K) time.Duration {
	return min(l.RateLimiter.When(key), l.longest)
}
