package queue

import "time"

// RateLimiter decides how long a key that failed has to wait. Its methods may be
// called from any goroutine.
type RateLimiter[K comparable] interface {
	// When counts one more failure of key and returns how long key has to wait.
	When(key K) time.Duration
	// Forget clears the failures of key. Whoever calls When for a key must call
	// Forget in the end, or the limiter remembers the key for ever.
	Forget(key K)
	// NumRequeues is the number of failures of key since the last Forget.
	NumRequeues(key K) int
}

// DefaultControllerRateLimiter is what the controllers of Kubernetes use: 5 ms
// after the first failure of a key, twice as long after each further one, up to
// 1000 s; and all keys together ten a second after the first hundred.
//
// The second rule is a single bucket: if a thousand keys fail once each, the
// last of them comes back after 90 s. A controller whose keys fail
// independently is better off with DefaultItemBasedRateLimiter.
func DefaultControllerRateLimiter[K comparable]() *MaxOfRateLimiter[K] {
	return NewMaxOfRateLimiter[K](
		NewItemExponentialFailureRateLimiter[K](5*time.Millisecond, 1000*time.Second),
		NewBucketRateLimiter[K](10, 100),
	)
}

// DefaultItemBasedRateLimiter lets each key back off on its own: 1 ms after the
// first failure, twice as long after each further one, up to 1000 s.
func DefaultItemBasedRateLimiter[K comparable]() *ItemExponentialFailureRateLimiter[K] {
	return NewItemExponentialFailureRateLimiter[K](time.Millisecond, 1000*time.Second)
}
