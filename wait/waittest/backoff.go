package waittest

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
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
		assert.Equal(t, time.Duration(math.MaxInt64), impl.Jitter(math.MaxInt64, 1))
	} else {
		assert.Negative(t, last, "the product has overflowed: nothing waits any more")
	}
}

// runExponential runs the cases against both forms.
func runExponential(t *testing.T, impl Implementation) {
	forms := map[string]func(context.Context, Backoff, Condition) error{
		"plain": func(ctx context.Context, b Backoff, condition Condition) error {
			return impl.ExponentialBackoff(b, func() (bool, error) { return condition(ctx) })
		},
		"with context": impl.ExponentialBackoffWithContext,
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) { testExponential(t, impl, form) })
	}
	t.Run("stopped", func(t *testing.T) { testExponentialStopped(t, impl) })
	t.Run("a panic counts as not done when crashing is off", func(t *testing.T) {
		panics := quietly(t, impl)
		synctest.Test(t, func(t *testing.T) {
			err := impl.ExponentialBackoff(Backoff{Duration: time.Second, Steps: 2},
				func() (bool, error) { panic("asked") })
			assert.Equal(t, impl.ErrWaitTimeout, err)
		})
		assert.Equal(t, []any{"asked", "asked"}, panics())
	})
}

func testExponential(t *testing.T, impl Implementation, form func(context.Context, Backoff, Condition) error) {
	// cappedCalls: the delays are 1, 2 and 3 s; the third is the capped one.
	capped := Backoff{Duration: time.Second, Factor: 2, Steps: 10, Cap: 3 * time.Second}
	cappedCalls, exactCalls := seconds(0, 1), seconds(0, 1, 3)
	if impl.has(LooksAfterCappedWait) {
		cappedCalls, exactCalls = seconds(0, 1, 3), seconds(0, 1, 3, 7)
	}
	for _, c := range []struct {
		name    string
		backoff Backoff
		doneAt  int
		failAt  int
		calls   []time.Duration
		took    time.Duration
		err     error
	}{
		{name: "no steps, no call", backoff: Backoff{Duration: time.Second}, doneAt: 1, calls: seconds(),
			err: impl.ErrWaitTimeout},
		{name: "one step", backoff: Backoff{Duration: time.Second, Steps: 1}, calls: seconds(0),
			err: impl.ErrWaitTimeout},
		{name: "true at once", backoff: Backoff{Duration: time.Second, Steps: 1}, doneAt: 1, calls: seconds(0)},
		{name: "no wait after the last call", backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4},
			calls: seconds(0, 1, 3, 7), took: 7 * time.Second, err: impl.ErrWaitTimeout},
		{name: "true at the last call", backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4}, doneAt: 4,
			calls: seconds(0, 1, 3, 7), took: 7 * time.Second},
		{name: "a failing condition", backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4}, failAt: 2,
			calls: seconds(0, 1), took: time.Second, err: errCondition},
		{name: "reaching the cap ends it", backoff: capped, calls: cappedCalls, took: 3 * time.Second,
			err: impl.ErrWaitTimeout},
		{name: "reaching the cap exactly does not end it",
			backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4, Cap: 4 * time.Second},
			calls:   exactCalls, took: 7 * time.Second, err: impl.ErrWaitTimeout},
		{name: "no delays", backoff: Backoff{Steps: 5}, calls: seconds(0, 0, 0, 0, 0), err: impl.ErrWaitTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				watch := newStopwatch()
				err := form(t.Context(), c.backoff, func(context.Context) (bool, error) {
					n := watch.Mark()
					if n == c.failAt {
						return false, errCondition
					}
					return n == c.doneAt, nil
				})
				assert.Equal(t, c.err, err)
				assert.Equal(t, c.calls, watch.Marks())
				assert.Equal(t, c.took, watch.Now())
			})
		})
	}
}

func testExponentialStopped(t *testing.T, impl Implementation) {
	backoff := Backoff{Duration: 10 * time.Second, Steps: 10}
	synctest.Test(t, func(t *testing.T) { // before
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := impl.ExponentialBackoffWithContext(ctx, backoff, func(context.Context) (bool, error) {
			assert.Fail(t, "the condition was called")
			return true, nil
		})
		assert.Equal(t, context.Canceled, err)
	})
	synctest.Test(t, func(t *testing.T) { // while waiting
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		watch := newStopwatch()
		err := impl.ExponentialBackoffWithContext(ctx, backoff, func(context.Context) (bool, error) {
			watch.Mark()
			return false, nil
		})
		assert.Equal(t, context.DeadlineExceeded, err)
		assert.Equal(t, seconds(0, 10), watch.Marks())
		assert.Equal(t, 15*time.Second, watch.Now())
	})
	synctest.Test(t, func(t *testing.T) { // when a delay of zero is over
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			watch := newStopwatch()
			err := impl.ExponentialBackoffWithContext(ctx, Backoff{Steps: 10}, func(context.Context) (bool, error) {
				watch.Mark()
				cancel()
				return false, nil
			})
			assert.Equal(t, context.Canceled, err)
			assert.Len(t, watch.Marks(), 1)
		}
	})
}
