package queuetest

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
)

func runLimiters(t *testing.T, limiters Limiters) {
	bubble(t, "exponential doubles for each key", func(t *testing.T) { testExponential(t, limiters) })
	bubble(t, "exponential never overflows", func(t *testing.T) { testExponentialOverflow(t, limiters) })
	bubble(t, "Forget frees the memory for a key", func(t *testing.T) { testForgetFreesMemory(t, limiters) })
	bubble(t, "several goroutines use a limiter", func(t *testing.T) { testConcurrentFailures(t, limiters) })
	bubble(t, "all keys share the bucket", func(t *testing.T) { testBucket(t, limiters) })
	bubble(t, "max-of asks all limiters", func(t *testing.T) { testMaxOf(t, limiters) })
	bubble(t, "the default of a controller", func(t *testing.T) { testController(t, limiters) })
}

// waits returns the delay that limiter returns for each key in turn.
func waits(limiter queue.RateLimiter[string], keys ...string) (all []time.Duration) {
	for _, key := range keys {
		all = append(all, limiter.When(key))
	}
	return all
}

func milliseconds(values ...int) (all []time.Duration) {
	for _, v := range values {
		all = append(all, time.Duration(v)*time.Millisecond)
	}
	return all
}

func testExponential(t *testing.T, limiters Limiters) {
	limiter := limiters.Exponential(time.Millisecond, time.Second)
	assert.Equal(t, milliseconds(1, 2, 4, 1, 8, 2, 16), waits(limiter, "a", "a", "a", "b", "a", "b", "a"),
		"want the delay of each key to double with each of its failures")
	assert.Equal(t, 5, limiter.NumRequeues("a"))
	assert.Equal(t, 2, limiter.NumRequeues("b"))

	limiter.Forget("a")
	assert.Zero(t, limiter.NumRequeues("a"), "want no failures after Forget")
	assert.Equal(t, milliseconds(1, 4), waits(limiter, "a", "b"), "want Forget to start a over, and b to go on")

	odd := limiters.Exponential(3, 7)
	assert.Equal(t, []time.Duration{3, 6, 7}, waits(odd, "a", "a", "a"),
		"want the longest delay only if doubling exceeds it")
}

// testForgetFreesMemory: a limiter that keeps a zero for each forgotten key grows without bound.
func testForgetFreesMemory(t *testing.T, limiters Limiters) {
	limiter := limiters.Exponential(time.Millisecond, time.Second)
	pointer := func() weak.Pointer[byte] {
		key := strings.Repeat("key", 100)
		limiter.When(key)
		limiter.Forget(key)
		return weak.Make(unsafe.StringData(key))
	}()
	runtime.GC()
	assert.Nil(t, pointer.Value(), "want Forget to free the memory for a key, got a limiter that still holds it")
	runtime.KeepAlive(limiter)
}

func testConcurrentFailures(t *testing.T, limiters Limiters) {
	const goroutines, failures = 4, 500
	limiter := limiters.MaxOf(limiters.Exponential(time.Millisecond, time.Second))
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			own := fmt.Sprint("key-", g)
			for range failures {
				limiter.When("shared")
				limiter.When(own)
				limiter.Forget(own)
			}
		})
	}
	group.Wait()
	assert.Equal(t, goroutines*failures, limiter.NumRequeues("shared"), "want every failure to be counted")
	assert.Zero(t, limiter.NumRequeues("key-0"), "want no failures after Forget")
}

func testExponentialOverflow(t *testing.T, limiters Limiters) {
	for _, c := range []struct{ base, max time.Duration }{
		{time.Millisecond, 1000 * time.Second},
		{time.Minute, time.Hour},
		{3 * time.Nanosecond, math.MaxInt64},
		{time.Hour, time.Minute},
	} {
		limiter := limiters.Exponential(c.base, c.max)
		last := time.Duration(0)
		for failure := range 2000 {
			wait := limiter.When("a")
			if wait < last || wait > c.max {
				t.Fatalf("failure %d of a key, base %v: want a delay from %v to %v, got %v", failure+1, c.base, last,
					c.max, wait)
			}
			last = wait
		}
		assert.Equal(t, c.max, last, "want the longest delay in the end")
		assert.Equal(t, 2000, limiter.NumRequeues("a"), "want each failure to be counted")
	}
}

func testBucket(t *testing.T, limiters Limiters) {
	limiter := limiters.Bucket(10, 3)
	assert.Equal(t, milliseconds(0, 0, 0, 100, 200), waits(limiter, "a", "b", "c", "d", "e"))
	assert.Zero(t, limiter.NumRequeues("e"))
	limiter.Forget("e")
	assert.Equal(t, milliseconds(300), waits(limiter, "e"), "Forget returns no token")

	pass(500 * time.Millisecond)
	assert.Equal(t, milliseconds(0, 0, 100), waits(limiter, "a", "b", "c"), "five tokens arrived, three were reserved")

	pass(time.Hour)
	assert.Equal(t, milliseconds(0, 0, 0, 100), waits(limiter, "a", "b", "c", "d"),
		"the bucket holds at most its burst")
}

func testMaxOf(t *testing.T, limiters Limiters) {
	first := limiters.Exponential(5*time.Millisecond, 8*time.Millisecond)
	second := limiters.Exponential(time.Millisecond, time.Second)
	limiter := limiters.MaxOf(first, second)
	assert.Equal(t, milliseconds(5, 8, 8, 8), waits(limiter, "a", "a", "a", "a"),
		"want the longest delay of any limiter")
	assert.Equal(t, 4, limiter.NumRequeues("a"))
	assert.Equal(t, 4, second.NumRequeues("a"), "limiters with a shorter delay count as well")

	first.Forget("a")
	assert.Equal(t, 4, limiter.NumRequeues("a"), "the largest count")
	assert.Equal(t, milliseconds(16), waits(limiter, "a"), "want the longest delay of any limiter")
	assert.Equal(t, 1, first.NumRequeues("a"), "want every limiter to count every failure")
	limiter.Forget("a")
	assert.Zero(t, first.NumRequeues("a"), "want Forget to reach every limiter")
	assert.Zero(t, second.NumRequeues("a"), "want Forget to reach every limiter")
}

// testController documents the cost of the global bucket (kubernetes/kubernetes#75577): a thousand
// keys that fail once each are retried over one and a half minutes. It also asserts the limit of
// each key.
func testController(t *testing.T, limiters Limiters) {
	limiter := limiters.Controller()
	var longest time.Duration
	for i := range 1000 {
		wait := limiter.When(fmt.Sprint("key-", i))
		if i < 100 {
			assert.Equal(t, 5*time.Millisecond, wait)
		}
		longest = max(longest, wait)
	}
	assert.Equal(t, 90*time.Second, longest)

	// The limit of each key begins at 5 ms and ends at 1000 s.
	pass(time.Hour)
	limiter.Forget("key-0")
	assert.Equal(t, milliseconds(5, 10, 20, 40), waits(limiter, "key-0", "key-0", "key-0", "key-0"))
	var last time.Duration
	for range 60 {
		pass(time.Second)
		last = limiter.When("key-0")
	}
	assert.Equal(t, 1000*time.Second, last)
}

func runRateLimits(t *testing.T, impl Implementation) {
	newQueue := func() queue.RateLimitingInterface[string] { return impl.NewRateLimiting(newCounting()) }
	runScripts(t, impl, newQueue, []script[queue.RateLimitingInterface[string]]{
		{name: "AddRateLimited delays a key as the limiter says", calls: `
			retry a; failures a 1; pass 999.999999ms; take -- before the end of the first delay
			pass 1ns; take a -- at the end of the first delay
			retry a; failures a 2; pass 1.999999999s; take -- before the end of the second delay
			pass 1ns; take a -- at the end of the second delay
			failures b 0 -- each key has its own count`},
		{name: "Forget starts over", calls: `
			retry a; pass 1m; take a; forget a; failures a 0 -- after Forget
			retry a; pass 1s; take a -- after the delay of a first failure
			forget never-seen`},
		{name: "Forget is not Done", calls: `
			add a; get a; retry a; forget a; pass 1m; len 0 -- Forget is not Done
			done a; take a -- Forget does not cancel the delay`},
		{name: "a worker that retries", calls: `
			add a; get a; retry a; done a; pass 1s; get a -- after the first failure
			retry a; done a; pass 2s; get a; forget a; done a -- after the second failure
			failures a 0; pass 1h; len 0 -- after a success`},
		{name: "AddRateLimited after ShutDown does nothing", calls: `
			shut; retry a; pass 1h; len 0 -- the key was added after the shutdown`},
	})
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
