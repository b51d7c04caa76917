package queue

import "time"

// ItemExponentialFailureRateLimiter lets a key wait base·2ⁿ after its n-th
// repeated failure (n = 0 for the first), but never longer than a maximum.
type ItemExponentialFailureRateLimiter[K comparable] struct {
	failures[K]
	base, longest time.Duration
}

// NewItemExponentialFailureRateLimiter makes a limiter that starts with base and
// doubles up to longest. Without a base (0 or less) nothing ever waits.
func NewItemExponentialFailureRateLimiter[K comparable](base, longest time.Duration) *ItemExponentialFailureRateLimiter[K] {
	return &ItemExponentialFailureRateLimiter[K]{failures: newFailures[K](), base: max(base, 0), longest: longest}
}

// When counts one more failure of key and returns how long key has to wait.
func (l *ItemExponentialFailureRateLimiter[K]) When(key K) time.Duration {
	n := l.add(key)
	if l.base > l.longest>>n { // base<<n > longest, asked in a way that cannot overflow
		return l.longest
	}
	return l.base << n
}
