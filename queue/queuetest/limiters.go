package queuetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/queue"
)

func runLimiters(t *testing.T, limiters Limiters) {
	bubble(t, "exponential doubles for each key", func(t *testing.T) { testExponential(t, limiters) })
	bubble(t, "exponential never overflows", func(t *testing.T) { testExponentialOverflow(t, limiters) })
	bubble(t, "a bucket is shared by all keys", func(t *testing.T) { testBucket(t, limiters) })
	bubble(t, "max-of asks all", func(t *testing.T) { testMaxOf(t, limiters) })
	bubble(t, "the default of a controller", func(t *testing.T) { testController(t, limiters) })
}

// waits asks a limiter again and again.
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
	assert.Equal(t, milliseconds(1, 2, 4, 1, 8, 2, 16), waits(limiter, "a", "a", "a", "b", "a", "b", "a"))
	assert.Equal(t, 5, limiter.NumRequeues("a"))
	assert.Equal(t, 2, limiter.NumRequeues("b"))

	limiter.Forget("a")
	assert.Zero(t, limiter.NumRequeues("a"))
	assert.Equal(t, milliseconds(1, 4), waits(limiter, "a", "b"))
}

func testExponentialOverflow(t *testing.T, limiters Limiters) {
	for _, c := range []struct{ base, max time.Duration }{
		{time.Millisecond, 1000 * time.Second},
		{time.Minute, time.Hour},
		{3 * time.Nanosecond, math.MaxInt64},
		{time.Hour, time.Minute},
	} {
		t.Logf("%v up to %v", c.base, c.max)
		limiter := limiters.Exponential(c.base, c.max)
		last := time.Duration(0)
		for range 2000 {
			wait := limiter.When("a")
			assert.GreaterOrEqual(t, wait, last)
			assert.LessOrEqual(t, wait, c.max)
			last = wait
		}
		assert.Equal(t, c.max, last)
		assert.Equal(t, 2000, limiter.NumRequeues("a"))
	}
}

func testBucket(t *testing.T, limiters Limiters) {
	limiter := limiters.Bucket(10, 3)
	assert.Equal(t, milliseconds(0, 0, 0, 100, 200), waits(limiter, "a", "b", "c", "d", "e"))
	assert.Zero(t, limiter.NumRequeues("e"))
	limiter.Forget("e")
	assert.Equal(t, milliseconds(300), waits(limiter, "e"), "Forget gives no token back")

	pass(500 * time.Millisecond)
	assert.Equal(t, milliseconds(0, 0, 100), waits(limiter, "a", "b", "c"), "five came, three were promised")

	pass(time.Hour)
	assert.Equal(t, milliseconds(0, 0, 0, 100), waits(limiter, "a", "b", "c", "d"), "the bucket never holds more than its burst")
}

func testMaxOf(t *testing.T, limiters Limiters) {
	first := limiters.Exponential(5*time.Millisecond, 8*time.Millisecond)
	second := limiters.Exponential(time.Millisecond, time.Second)
	limiter := limiters.MaxOf(first, second)
	assert.Equal(t, milliseconds(5, 8, 8, 8), waits(limiter, "a", "a", "a", "a"))
	assert.Equal(t, 4, limiter.NumRequeues("a"))
	assert.Equal(t, 4, second.NumRequeues("a"), "also those that lose are asked")

	first.Forget("a")
	assert.Equal(t, 4, limiter.NumRequeues("a"), "the largest count")
	assert.Equal(t, milliseconds(16), waits(limiter, "a"))
	limiter.Forget("a")
	assert.Zero(t, first.NumRequeues("a"))
	assert.Zero(t, second.NumRequeues("a"))
}

// testController documents what the global bucket costs: a thousand keys that
// fail once each come back over one and a half minutes.
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

	// The part that concerns single keys.
	pass(time.Hour)
	limiter.Forget("key-0")
	assert.Equal(t, milliseconds(5, 10, 20, 40), waits(limiter, "key-0", "key-0", "key-0", "key-0"))
	for range 60 {
		pass(time.Second)
		longest = limiter.When("key-0")
	}
	assert.Equal(t, 1000*time.Second, longest)
}
