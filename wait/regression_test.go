package wait

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// apimachinery's first generation of Poll passes the interval to time.NewTicker on a goroutine of
// its own, where an interval of zero ends the process.
func TestZeroIntervalDoesNotPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		third := func() (bool, error) { asked++; return asked%3 == 0, nil }
		for _, interval := range []time.Duration{0, -time.Second} {
			assert.NoError(t, Poll(interval, time.Second, third))
			assert.NoError(t, PollUntilContextCancel(t.Context(), interval, false, ConditionFunc(third).WithContext()))
		}
		assert.Equal(t, 12, asked)
	})
}

// A timeout on a tick: apimachinery calls the condition once or twice, by chance.
func TestTimeoutOnATickAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			asked := 0
			err := Poll(time.Second, 3*time.Second, func() (bool, error) { asked++; return false, nil })
			assert.Equal(t, ErrWaitTimeout, err)
			require.Equal(t, 3, asked, "a timeout that falls on a tick is one call, not two")
		}
	})
}

// If f ends by runtime.Goexit (a t.FailNow, say), the loop's goroutine ends, and no handler reports
// a panic.
func TestGoexitIsNoPanic(t *testing.T) {
	defer PanicHandlers.Replace(func(context.Context, *Panic) { t.Error("a handler was called") })()
	runs := 0
	var group Group
	group.Start(func() {
		Until(func() {
			runs++
			runtime.Goexit()
		}, 0, NeverStop)
	})
	group.Wait()
	assert.Equal(t, 1, runs)
}

// A timer that fired during the run must not shorten the wait after it.
func TestExpiredTimerIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tm := timer{delay: func() time.Duration { return time.Second }}
		tm.Arm()
		time.Sleep(5 * time.Second) // fired, not received
		tm.Arm()
		began := time.Now()
		<-tm.C()
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestNilBackoffDoesNotWait(t *testing.T) {
	var b *Backoff
	assert.Zero(t, b.Step())
}

func TestScaleSaturatesBothWays(t *testing.T) {
	const longest, shortest = time.Duration(1<<63 - 1), time.Duration(-1 << 63)
	assert.Equal(t, longest, scale(longest, 2))
	assert.Equal(t, longest, scale(longest, 1))
	assert.Equal(t, shortest, scale(longest, -2))
	assert.Equal(t, -2*time.Second, scale(-time.Second, 2))
}
