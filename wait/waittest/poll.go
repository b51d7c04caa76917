package waittest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

var errCondition = errors.New("the condition failed")

func runPoll(t *testing.T, impl Implementation, poll Poll) {
	run := func(name string, test func(*testing.T, Implementation, Poll)) {
		bubble(t, name, func(t *testing.T) { test(t, impl, poll) })
	}
	run("calls the condition every interval until it is true", testPollDone)
	run("a failing condition ends it", testPollError)
	run("an error outranks true", testPollErrorAndDone)
	run("the pace with a slow condition", testPollSlow)
	run("the context reaches the condition", testPollContext)
	run("a panic continues by default", testPollCrashes)
	run("a panic counts as not done when crashing is off", testPollSurvives)
	if poll.Timeout {
		run("time is up", testPollTimeout)
		run("a last call after the timeout", testPollLastQuestion)
	}
	if poll.Timeout && poll.Legacy {
		run("a timeout of zero is none", testPollNoTimeout)
	}
	if poll.Stops {
		run("stopped before it begins", testPollStoppedBefore)
		run("stopped while it waits", testPollStopped)
		run("stopped while a tick is due", testPollStopTick)
	}
}

// never is a timeout that no test reaches.
const never = 1000 * time.Hour

// ask polls every ten seconds with this timeout and records the calls of condition, which receives
// the number of the call.
func (p Poll) ask(ctx context.Context, timeout time.Duration,
	condition func(n int) (bool, error)) (calls []time.Duration, took time.Duration, err error) {
	watch := newStopwatch()
	err = p.Run(ctx, 10*time.Second, timeout, func(context.Context) (bool, error) {
		return condition(watch.Mark())
	})
	return watch.Marks(), watch.Now(), err
}

// from returns the expected times of n calls, ten seconds apart.
func (p Poll) from(n int) []time.Duration {
	all := []time.Duration{}
	for i := range n {
		at := time.Duration(i) * 10 * time.Second
		if !p.Immediate {
			at += 10 * time.Second
		}
		all = append(all, at)
	}
	return all
}

// upTo returns the expected times of the calls before a deadline.
func (p Poll) upTo(end time.Duration) []time.Duration {
	n := int(end / (10 * time.Second))
	if p.Immediate {
		n++
	}
	return p.from(n)
}

func testPollDone(t *testing.T, _ Implementation, poll Poll) {
	calls, _, err := poll.ask(t.Context(), never, func(n int) (bool, error) { return n == 3, nil })
	assert.NoError(t, err)
	assert.Equal(t, poll.from(3), calls)
}

func testPollError(t *testing.T, _ Implementation, poll Poll) {
	for _, failing := range []int{1, 3} {
		calls, _, err := poll.ask(t.Context(), never, func(n int) (bool, error) {
			if n == failing {
				return false, errCondition
			}
			return false, nil
		})
		assert.Equal(t, errCondition, err, "the error is not wrapped")
		assert.Equal(t, poll.from(failing), calls)
	}
}

func testPollErrorAndDone(t *testing.T, _ Implementation, poll Poll) {
	_, _, err := poll.ask(t.Context(), never, func(int) (bool, error) { return true, errCondition })
	assert.Equal(t, errCondition, err)
}

// testPollSlow: the first call takes 25 s at an interval of 10 s; two ticks pass.
func testPollSlow(t *testing.T, _ Implementation, poll Poll) {
	var want []time.Duration
	switch {
	case poll.Legacy: // both ticks are dropped
		want = seconds(10, 40, 50)
	case poll.Immediate: // one tick is kept
		want = seconds(0, 25, 30)
	default:
		want = seconds(10, 35, 40)
	}
	calls, _, err := poll.ask(t.Context(), never, func(n int) (bool, error) {
		if n == 1 {
			time.Sleep(25 * time.Second)
		}
		return n == 3, nil
	})
	assert.NoError(t, err)
	assert.Equal(t, want, calls, "the calls keep to the ticks")
}

func testPollContext(t *testing.T, _ Implementation, poll Poll) {
	err := poll.Run(markedContext(), time.Second, never, func(given context.Context) (bool, error) {
		assert.Equal(t, poll.Contexts, isMarked(given))
		return true, nil
	})
	assert.NoError(t, err)
}

func testPollCrashes(t *testing.T, impl Implementation, poll Poll) {
	panics := loudly(t, impl)
	assert.PanicsWithValue(t, "asked", func() {
		_ = poll.Run(t.Context(), time.Second, never, func(context.Context) (bool, error) { panic("asked") })
	})
	assert.Equal(t, []any{"asked"}, panics())
}

func testPollSurvives(t *testing.T, impl Implementation, poll Poll) {
	panics := quietly(t, impl)
	calls, _, err := poll.ask(t.Context(), never, func(n int) (bool, error) {
		if n < 3 {
			panic(n)
		}
		return true, nil
	})
	assert.NoError(t, err)
	assert.Equal(t, poll.from(3), calls)
	assert.Equal(t, []any{1, 2}, panics())
}

func no(int) (bool, error) { return false, nil }

// interruption returns the error with which a form reports cause.
func (p Poll) interruption(impl Implementation, cause error) error {
	if p.Legacy {
		return impl.ErrWaitTimeout
	}
	return cause
}

func testPollTimeout(t *testing.T, impl Implementation, poll Poll) {
	calls, took, err := poll.ask(t.Context(), 35*time.Second, no)
	assert.Equal(t, poll.interruption(impl, context.DeadlineExceeded), err)
	assert.True(t, impl.Interrupted(err))
	assert.Equal(t, 35*time.Second, took)
	want := poll.upTo(35 * time.Second)
	if poll.Legacy {
		want = append(want, 35*time.Second)
	}
	assert.Equal(t, want, calls)
}

// testPollLastQuestion: the condition becomes true after the last tick and before the timeout. The
// old generation notices.
func testPollLastQuestion(t *testing.T, _ Implementation, poll Poll) {
	watch := newStopwatch()
	_, took, err := poll.ask(t.Context(), 35*time.Second, func(int) (bool, error) {
		return watch.Now() > 32*time.Second, nil
	})
	assert.Equal(t, 35*time.Second, took)
	if poll.Legacy {
		assert.NoError(t, err)
	} else {
		assert.Equal(t, context.DeadlineExceeded, err)
	}
}

func testPollNoTimeout(t *testing.T, _ Implementation, poll Poll) {
	calls, _, err := poll.ask(t.Context(), 0, func(n int) (bool, error) { return n == 500, nil })
	assert.NoError(t, err)
	assert.Equal(t, poll.from(500), calls)
}

func testPollStoppedBefore(t *testing.T, impl Implementation, poll Poll) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	calls, took, err := poll.ask(ctx, never, no)
	assert.Equal(t, poll.interruption(impl, context.Canceled), err)
	assert.Zero(t, took)
	assert.Equal(t, poll.upTo(0), calls, "the immediate forms call the condition once in any case")
}

func testPollStopped(t *testing.T, impl Implementation, poll Poll) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	time.AfterFunc(25*time.Second, cancel)
	calls, took, err := poll.ask(ctx, never, no)
	assert.Equal(t, poll.interruption(impl, context.Canceled), err)
	assert.True(t, impl.Interrupted(err))
	assert.Equal(t, 25*time.Second, took)
	assert.Equal(t, poll.upTo(25*time.Second), calls)
}

// testPollStopTick makes a tick and the stop ready before the loop checks: the call at the first
// tick lasts until the next one is due and then stops the polling.
func testPollStopTick(t *testing.T, _ Implementation, poll Poll) {
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		_, _, _ = poll.ask(ctx, never, func(n int) (bool, error) {
			assert.NoError(t, ctx.Err(), "the condition is called after the stop")
			if !poll.Immediate || n > 1 {
				time.Sleep(10 * time.Second)
				cancel()
			}
			return false, nil
		})
	}
}
