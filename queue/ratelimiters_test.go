package queue_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/queue"
)

// TestExponentialIsExact compares the shift with arithmetic that cannot overflow.
func TestExponentialIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.Int64Min(1).Draw(t, "base"))
		longest := time.Duration(rapid.Int64Min(1).Draw(t, "max"))
		limiter := queue.NewItemExponentialFailureRateLimiter[string](base, longest)
		for n := range 70 {
			want := new(big.Int).Lsh(big.NewInt(int64(base)), uint(n))
			if limit := big.NewInt(int64(longest)); want.Cmp(limit) > 0 {
				want = limit
			}
			if got := limiter.When("a"); int64(got) != want.Int64() {
				t.Fatalf("wait %d is %d, want %v", n, got, want)
			}
		}
	})
}

func TestExponentialWithoutBase(t *testing.T) {
	for _, base := range []time.Duration{0, -3} {
		limiter := queue.NewItemExponentialFailureRateLimiter[string](base, time.Second)
		for range 100 {
			require.Zero(t, limiter.When("a"))
		}
	}
}

func TestBucketWithoutLimit(t *testing.T) {
	for _, qps := range []float64{0, -1} {
		limiter := queue.NewBucketRateLimiter[string](qps, 1)
		for range 100 {
			assert.Zero(t, limiter.When("a"))
		}
	}
}

func TestBucketExtremes(t *testing.T) {
	limiter := queue.NewBucketRateLimiter[string](1e-300, 0)
	assert.Zero(t, limiter.When("a"), "a burst of 0 counts as 1")
	assert.Greater(t, limiter.When("a"), 100*365*24*time.Hour)
}

// A base·2ⁿ exactly one above the largest duration became negative.
func TestExponentialOfAPowerOfTwo(t *testing.T) {
	limiter := queue.NewItemExponentialFailureRateLimiter[string](time.Nanosecond, math.MaxInt64)
	last := time.Duration(0)
	for range 70 {
		wait := limiter.When("a")
		require.GreaterOrEqual(t, wait, last)
		last = wait
	}
	assert.Equal(t, time.Duration(math.MaxInt64), last)
}
