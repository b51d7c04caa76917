package queue

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// RateLimiter decides how long a failed key is delayed. It neither waits nor queues: a worker calls
// AddRateLimited after a failed pass, which asks When, and Forget after a pass that succeeded. Its
// methods may be called from any goroutine.
type RateLimiter[K comparable] interface {
	// When counts one more failure of key and returns its delay.
	When(key K) time.Duration
	// Forget clears the failures of key. Without it the limiter remembers every key passed to When.
	Forget(key K)
	// NumRequeues returns the number of failures of key since the last Forget.
	NumRequeues(key K) int
}

// DefaultControllerRateLimiter returns the limiter of Kubernetes' controllers: 5 ms after the first
// failure of a key, doubled after each further one, up to 1000 s. Over all keys it also allows a
// burst of 100 retries and then 10 per second.
//
// The second rule is a single bucket: if a thousand keys fail once each, the last of them is
// retried after 90 s. A controller whose keys fail independently is better off with the first rule
// alone.
func DefaultControllerRateLimiter[K comparable]() *MaxOfRateLimiter[K] {
	return NewMaxOfRateLimiter[K](
		NewItemExponentialFailureRateLimiter[K](5*time.Millisecond, 1000*time.Second),
		NewBucketRateLimiter[K](10, 100),
	)
}

// failures counts failures by key.
type failures[K comparable] struct {
	mu     sync.Mutex
	counts map[K]int // guarded by mu; no zeros
}

// add counts one more failure and returns the number before it.
func (f *failures[K]) add(key K) (before int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before = f.counts[key]
	f.counts[key] = before + 1
	return before
}

// Forget clears the failures of key and frees the memory for it.
func (f *failures[K]) Forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.counts, key)
}

// NumRequeues returns the number of failures of key since the last Forget.
func (f *failures[K]) NumRequeues(key K) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts[key]
}

// ItemExponentialFailureRateLimiter doubles the delay of a key with each failure, up to a maximum.
type ItemExponentialFailureRateLimiter[K comparable] struct {
	failures[K]
	base, longest time.Duration
}

// NewItemExponentialFailureRateLimiter returns a limiter that starts with base and doubles up to
// longest. With a base of 0 or less there is no delay.
func NewItemExponentialFailureRateLimiter[K comparable](
	base, longest time.Duration,
) *ItemExponentialFailureRateLimiter[K] {
	return &ItemExponentialFailureRateLimiter[K]{failures[K]{counts: map[K]int{}}, max(base, 0), longest}
}

// When counts one more failure of key and returns its delay: base·2ⁿ after n earlier failures, but
// at most longest. A key may fail more often than an int64 has bits.
func (l *ItemExponentialFailureRateLimiter[K]) When(key K) time.Duration {
	n := l.add(key)
	if l.base > l.longest>>n { // base<<n > longest, without overflow
		return l.longest
	}
	return l.base << n
}

// BucketRateLimiter is a token bucket that all keys share: it holds at most burst tokens and gains
// qps per second. Each failure takes a token or reserves a future one, for which the key waits; so
// keys that fail together are retried 1/qps apart. A token is never given back.
type BucketRateLimiter[K comparable] struct{ bucket *rate.Limiter }

// NewBucketRateLimiter returns a limiter with a full bucket. A qps of 0 or less means no limit. A
// burst below 1 counts as 1.
func NewBucketRateLimiter[K comparable](qps float64, burst int) *BucketRateLimiter[K] {
	limit := rate.Limit(qps)
	if qps <= 0 {
		limit = rate.Inf
	}
	return &BucketRateLimiter[K]{rate.NewLimiter(limit, max(burst, 1))}
}

// When reserves a token and returns the delay until it is available.
func (l *BucketRateLimiter[K]) When(K) time.Duration { return l.bucket.Reserve().Delay() }

// Forget does nothing: the bucket knows no keys.
func (l *BucketRateLimiter[K]) Forget(K) {}

// NumRequeues is always 0.
func (l *BucketRateLimiter[K]) NumRequeues(K) int { return 0 }

// MaxOfRateLimiter asks several limiters and returns the longest delay. Every limiter counts every
// failure.
type MaxOfRateLimiter[K comparable] struct{ limiters []RateLimiter[K] }

// NewMaxOfRateLimiter returns a new limiter that combines limiters.
func NewMaxOfRateLimiter[K comparable](limiters ...RateLimiter[K]) *MaxOfRateLimiter[K] {
	return &MaxOfRateLimiter[K]{limiters}
}

// When counts one more failure of key in every limiter and returns the longest of their delays.
func (l *MaxOfRateLimiter[K]) When(key K) (longest time.Duration) {
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

// NumRequeues returns the largest count of any limiter.
func (l *MaxOfRateLimiter[K]) NumRequeues(key K) (most int) {
	for _, part := range l.limiters {
		most = max(most, part.NumRequeues(key))
	}
	return most
}
