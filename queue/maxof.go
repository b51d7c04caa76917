package queue

import "time"

// MaxOfRateLimiter asks several limiters and takes the longest wait.
//
// Every limiter counts every failure, also those whose answer is not taken.
type MaxOfRateLimiter[K comparable] struct {
	limiters []RateLimiter[K]
}

// NewMaxOfRateLimiter combines limiters.
func NewMaxOfRateLimiter[K comparable](limiters ...RateLimiter[K]) *MaxOfRateLimiter[K] {
	return &MaxOfRateLimiter[K]{limiters: limiters}
}

// When counts one more failure of key and returns the longest wait.
func (l *MaxOfRateLimiter[K]) When(key K) time.Duration {
	var longest time.Duration
	for _, limiter := range l.limiters {
		longest = max(longest, limiter.When(key))
	}
	return longest
}

// Forget clears the failures of key in every limiter.
func (l *MaxOfRateLimiter[K]) Forget(key K) {
	for _, limiter := range l.limiters {
		limiter.Forget(key)
	}
}

// NumRequeues is the largest count of any limiter.
func (l *MaxOfRateLimiter[K]) NumRequeues(key K) int {
	most := 0
	for _, limiter := range l.limiters {
		most = max(most, limiter.NumRequeues(key))
	}
	return most
}
