package queue

// RateLimitingQueue is a DelayingQueue with a RateLimiter: AddRateLimited delays a failed key as
// long as the limiter decides. Package queue/fast has the same over its faster queues.
type RateLimitingQueue[K comparable] struct {
	DelayingQueue[K]
	limiter RateLimiter[K] // set by NewRateLimiting, never changed
}

// NewRateLimiting returns a new rate-limiting queue. A nil limiter means
// DefaultControllerRateLimiter.
func NewRateLimiting[K comparable](limiter RateLimiter[K], config Config[K]) *RateLimitingQueue[K] {
	if limiter == nil {
		limiter = DefaultControllerRateLimiter[K]()
	}
	q := &RateLimitingQueue[K]{limiter: limiter}
	q.init(config)
	return q
}

func (q *RateLimitingQueue[K]) AddRateLimited(key K) {
	wait := q.limiter.When(key)
	if q.trace.Retried != nil {
		q.trace.Retried(key, q.limiter.NumRequeues(key), wait)
	}
	q.AddAfter(key, wait)
}

// Forget does not cancel a delay.
func (q *RateLimitingQueue[K]) Forget(key K) {
	q.limiter.Forget(key)
	if q.trace.Forgotten != nil {
		q.trace.Forgotten(key)
	}
}

func (q *RateLimitingQueue[K]) NumRequeues(key K) int { return q.limiter.NumRequeues(key) }
