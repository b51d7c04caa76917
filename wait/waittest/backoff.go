package waittest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func runJitter(t *testing.T, impl Implementation) {
	for _, c := range []struct {
		factor  float64
		longest time.Duration
	}{
		{factor: 0.1, longest: 11 * time.Second},
		{factor: 3, longest: 40 * time.Second},
		{factor: 0, longest: 20 * time.Second}, // 0 or less means 1
		{factor: -5, longest: 20 * time.Second},
	} {
		different, most := map[time.Duration]bool{}, time.Duration(0)
		for range 500 {
			d := impl.Jitter(10*time.Second, c.factor)
			different[d] = true
			require.GreaterOrEqual(t, d, 10*time.Second, "Jitter(10s, %v) is never shorter than 10s", c.factor)
			require.LessOrEqual(t, d, c.longest, "Jitter(10s, %v) is at most %v", c.factor, c.longest)
			most = max(most, d)
		}
		share := float64(most-10*time.Second) / float64(c.longest-10*time.Second)
		assert.Greater(t, share, 0.8, "the longest of 500 results of Jitter(10s, %v) is %v, and should be near %v",
			c.factor, most, c.longest)
		assert.Greater(t, len(different), 250, "500 results of Jitter(10s, %v) are different", c.factor)
	}
	assert.Zero(t, impl.Jitter(0, 1))
	assert.LessOrEqual(t, impl.Jitter(-time.Second, 1), -time.Second, "a negative duration stays negative")
	const longest = time.Duration(math.MaxInt64)
	if impl.has(SaturatingDurations) {
		assert.Equal(t, longest, impl.Jitter(longest, 1), "a result that would overflow")
	} else {
		assert.Negative(t, impl.Jitter(longest, 1))
	}
}

func runBackoff(t *testing.T, impl Implementation) {
	t.Run("step table", func(t *testing.T) { testStepTable(t, impl) })
	t.Run("remaining steps", func(t *testing.T) { testRemainingSteps(t, impl) })
	t.Run("jitter is on top of the cap and does not accumulate", func(t *testing.T) { testStepJitter(t, impl) })
	t.Run("a sequence without a cap", func(t *testing.T) { testStepOverflow(t, impl) })
}

func testStepTable(t *testing.T, impl Implementation) {
	for _, c := range []struct {
		name    string
		backoff Backoff
		want    []time.Duration
	}{
		{"zero value", Backoff{}, seconds(0, 0)},
		{"constant without steps", Backoff{Duration: time.Second, Factor: 2}, seconds(1, 1, 1)},
		{"constant with negative steps", Backoff{Duration: time.Second, Factor: 2, Steps: -3}, seconds(1, 1, 1)},
		{"constant without factor", Backoff{Duration: time.Second, Steps: 3}, seconds(1, 1, 1, 1, 1)},
		{"doubles", Backoff{Duration: time.Second, Factor: 2, Steps: 3}, seconds(1, 2, 4, 8, 8)},
		{"one step", Backoff{Duration: time.Second, Factor: 2, Steps: 1}, seconds(1, 2, 2)},
		{"capped", Backoff{Duration: time.Second, Factor: 3, Steps: 9, Cap: 5 * time.Second}, seconds(1, 3, 5, 5)},
		{"reaches the cap exactly", Backoff{Duration: time.Second, Factor: 2, Steps: 9, Cap: 4 * time.Second},
			seconds(1, 2, 4, 4)},
		{"begins above the cap", Backoff{Duration: 7 * time.Second, Factor: 2, Steps: 9, Cap: 5 * time.Second},
			seconds(7, 5, 5)},
		{"shrinks", Backoff{Duration: 4 * time.Second, Factor: 0.5, Steps: 9}, seconds(4, 2, 1, 0.5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			step, _ := impl.NewBackoff(c.backoff)
			got := []time.Duration{}
			for range c.want {
				got = append(got, step())
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func testRemainingSteps(t *testing.T, impl Implementation) {
	step, steps := impl.NewBackoff(Backoff{Duration: time.Second, Factor: 2, Steps: 9, Cap: 5 * time.Second})
	got := []int{steps()}
	for range 5 {
		step()
		got = append(got, steps())
	}
	assert.Equal(t, []int{9, 8, 7, 0, 0, 0}, got, "the step that would exceed the cap ends the growth")

	step, steps = impl.NewBackoff(Backoff{Duration: time.Second, Factor: 2, Steps: 9, Cap: 4 * time.Second})
	got = []int{steps()}
	for range 4 {
		step()
		got = append(got, steps())
	}
	assert.Equal(t, []int{9, 8, 7, 0, 0}, got,
		"a step that reaches the cap exactly does not end the growth, the next one does")

	step, steps = impl.NewBackoff(Backoff{Duration: time.Second, Steps: -4})
	step()
	assert.Zero(t, steps())
}

func testStepJitter(t *testing.T, impl Implementation) {
	for range 200 {
		step, _ := impl.NewBackoff(Backoff{Duration: time.Second, Factor: 2, Jitter: 0.5, Steps: 9,
			Cap: 4 * time.Second})
		for _, base := range seconds(1, 2, 4, 4, 4) {
			d := step()
			require.GreaterOrEqual(t, d, base)
			require.LessOrEqual(t, d, base+base/2)
		}
	}
	step, _ := impl.NewBackoff(Backoff{Duration: time.Second, Factor: 2, Jitter: -1, Steps: 2})
	assert.Equal(t, seconds(1, 2, 4), []time.Duration{step(), step(), step()}, "negative jitter is none")
}

func testStepOverflow(t *testing.T, impl Implementation) {
	step, _ := impl.NewBackoff(Backoff{Duration: time.Second, Factor: 10, Steps: 100})
	var last time.Duration
	for range 20 {
		last = step()
	}
	if impl.has(SaturatingDurations) {
		assert.Equal(t, time.Duration(math.MaxInt64), last)
	} else {
		assert.Negative(t, last, "the product has overflowed: nothing waits any more")
	}
}
