package queuetest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runRateLimits(t *testing.T, impl Implementation) {
	scenario := func(name string, f func(*testing.T, queue.RateLimitingInterface[string], *counting)) {
		bubble(t, name, func(t *testing.T) {
			limiter := newCounting()
			f(t, ended(t, impl.NewRateLimiting(limiter)), limiter)
		})
	}
	scenario("AddRateLimited delays a key as the limiter says", testAddRateLimited)
	scenario("Forget starts over", testForget)
	scenario("Forget is not Done", testForgetIsNotDone)
	scenario("a worker that retries", testRetryLoop)
	scenario("AddRateLimited after ShutDown does nothing", testRateLimitAfterShutDown)
}

// counting is a limiter that delays a key by one second per failure.
type counting struct {
	mu       sync.Mutex
	failures map[string]int // guarded by mu
}

func newCounting() *counting { return &counting{failures: map[string]int{}} }

func (l *counting) When(key string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures[key]++
	return time.Duration(l.failures[key]) * time.Second
}

func (l *counting) Forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.failures, key)
}

func (l *counting) NumRequeues(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures[key]
}

func testAddRateLimited(t *testing.T, q queue.RateLimitingInterface[string], limiter *counting) {
	for failures := 1; failures <= 3; failures++ {
		q.AddRateLimited("a")
		assert.Equal(t, failures, limiter.NumRequeues("a"), "the limiter is asked once")
		assert.Equal(t, failures, q.NumRequeues("a"))
		pass(time.Duration(failures)*time.Second - 1)
		require.Zero(t, q.Len())
		pass(1)
		require.Equal(t, []string{"a"}, takeAll(t, q))
	}
	assert.Zero(t, q.NumRequeues("b"), "each key has its own count")
}

func testForget(t *testing.T, q queue.RateLimitingInterface[string], _ *counting) {
	q.AddRateLimited("a")
	pass(time.Minute)
	takeAll(t, q)
	q.Forget("a")
	assert.Zero(t, q.NumRequeues("a"))
	q.AddRateLimited("a")
	pass(time.Second)
	assert.Equal(t, []string{"a"}, takeAll(t, q))
	q.Forget("never seen")
}

func testForgetIsNotDone(t *testing.T, q queue.RateLimitingInterface[string], _ *counting) {
	q.Add("a")
	take(t, q)
	q.AddRateLimited("a")
	q.Forget("a")
	pass(time.Minute)
	assertEmpty(t, q, "Forget is not Done")
	q.Done("a")
	assert.Equal(t, []string{"a"}, takeAll(t, q), "Forget does not cancel the delay")
}

func testRetryLoop(t *testing.T, q queue.RateLimitingInterface[string], _ *counting) {
	began := time.Now()
	var attempts []time.Duration
	worker := func() {
		for {
			key, shutdown := q.Get()
			if shutdown {
				return
			}
			attempts = append(attempts, time.Since(began))
			if len(attempts) < 4 {
				q.AddRateLimited(key)
			} else {
				q.Forget(key)
			}
			q.Done(key)
		}
	}
	stopped := background(worker)
	q.Add("a")
	pass(time.Minute)
	q.ShutDown()
	require.True(t, stopped())
	assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second}, attempts)
	assert.Zero(t, q.NumRequeues("a"))
}

func testRateLimitAfterShutDown(t *testing.T, q queue.RateLimitingInterface[string], _ *counting) {
	q.ShutDown()
	q.AddRateLimited("a")
	pass(time.Hour)
	assertEmpty(t, q, "the key was added after the shutdown")
}
