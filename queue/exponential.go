package queue

import "time"

// ItemExponentialFailureRateLimiter lets a key wait base·2ⁿ after its n-th
// repeated failure (n = 0 for the first), but never longer than a maximum.
type ItemExponentialFailureRateLimiter[K comparable] struct {
	failures[K]
	base, max time.Duration
}

// NewItemExponentialFailureRateLimiter makes a limiter that starts with base and
// doubles up to max.
func NewItemExponentialFailureRateLimiter[K comparable](base, max time.Duration) *ItemExponentialFailureRateLimiter[K] {
	return &ItemExponentialFailureRateLimiter[K]{base: base, max: max}
}

// When counts one more failure of key and returns how long key has to wait.
func (l *ItemExponentialFailureRateLimiter[K]) When(key K) time.Duration {
	n := l.add(key)
	// base<<n > max, asked in a way that cannot overflow.
	if n > 62 || l.base > l.max>>n {
		return l.max
	}
	return l.base << n
}
