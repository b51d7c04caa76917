package queue

import (
	"math"
	"sync"
	"time"
)

// BucketRateLimiter is a token bucket that all keys share: it holds burst
// tokens at most and gains qps a second. Each failure takes one. If none is
// left it takes one that is still to come, and waits for it; so the delays of
// keys that fail together are 1/qps apart.
//
// A token that was taken is not given back, whatever becomes of the key. Nothing
// is known about single keys, so Forget does nothing and NumRequeues is 0.
type BucketRateLimiter[K comparable] struct {
	qps, burst float64
	born       time.Time

	mu     sync.Mutex
	tokens float64       // guarded by mu; negative: so many are promised
	filled time.Duration // guarded by mu; when tokens was right, since born
}

// NewBucketRateLimiter makes a full bucket. A qps that is not positive means that
// nothing is ever limited. A burst below 1 counts as 1.
func NewBucketRateLimiter[K comparable](qps float64, burst int) *BucketRateLimiter[K] {
	full := float64(max(burst, 1))
	return &BucketRateLimiter[K]{qps: qps, burst: full, tokens: full, born: time.Now()}
}

// When takes a token and returns how long it takes to come.
func (l *BucketRateLimiter[K]) When(K) time.Duration {
	if l.qps <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.born)
	l.tokens = min(l.burst, l.tokens+l.qps*(now-l.filled).Seconds())
	l.filled = now
	l.tokens--
	if l.tokens >= 0 {
		return 0
	}
	// A tiny qps makes a wait that no Duration can express.
	return time.Duration(min(-l.tokens/l.qps*float64(time.Second), math.MaxInt64/2))
}

// Forget does nothing.
func (l *BucketRateLimiter[K]) Forget(K) {}

// NumRequeues is always 0.
func (l *BucketRateLimiter[K]) NumRequeues(K) int { return 0 }
