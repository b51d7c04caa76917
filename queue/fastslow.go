package queue

import "time"

// ItemFastSlowRateLimiter lets a key wait a short time after each of its first
// failures and a long one after all others.
type ItemFastSlowRateLimiter[K comparable] struct {
	failures[K]
	fast, slow time.Duration
	maxFast    int
}

// NewItemFastSlowRateLimiter makes a limiter that lets a key wait fast after each
// of its first maxFastAttempts failures and slow after the others.
func NewItemFastSlowRateLimiter[K comparable](fast, slow time.Duration, maxFastAttempts int) *ItemFastSlowRateLimiter[K] {
	return &ItemFastSlowRateLimiter[K]{failures: newFailures[K](), fast: fast, slow: slow, maxFast: maxFastAttempts}
}

// When counts one more failure of key and returns how long key has to wait.
func (l *ItemFastSlowRateLimiter[K]) When(key K) time.Duration {
	if l.add(key) < l.maxFast {
		return l.fast
	}
	return l.slow
}
