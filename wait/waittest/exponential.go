package waittest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

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
			err := impl.ExponentialBackoff(Backoff{Duration: time.Second, Steps: 2}, func() (bool, error) { panic("asked") })
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
		{name: "no steps, no call", backoff: Backoff{Duration: time.Second}, doneAt: 1, calls: seconds(), err: impl.ErrWaitTimeout},
		{name: "one step", backoff: Backoff{Duration: time.Second, Steps: 1}, calls: seconds(0), err: impl.ErrWaitTimeout},
		{name: "true at once", backoff: Backoff{Duration: time.Second, Steps: 1}, doneAt: 1, calls: seconds(0)},
		{name: "no wait after the last call", backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4},
			calls: seconds(0, 1, 3, 7), took: 7 * time.Second, err: impl.ErrWaitTimeout},
		{name: "true at the last call", backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4}, doneAt: 4,
			calls: seconds(0, 1, 3, 7), took: 7 * time.Second},
		{name: "a failing condition", backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4}, failAt: 2,
			calls: seconds(0, 1), took: time.Second, err: errCondition},
		{name: "reaching the cap ends it", backoff: capped, calls: cappedCalls, took: 3 * time.Second, err: impl.ErrWaitTimeout},
		{name: "reaching the cap exactly does not end it", backoff: Backoff{Duration: time.Second, Factor: 2, Steps: 4, Cap: 4 * time.Second},
			calls: exactCalls, took: 7 * time.Second, err: impl.ErrWaitTimeout},
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
