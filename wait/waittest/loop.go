package waittest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// styles returns the values of sliding to test: both if the form takes it.
func (l Loop) styles() []bool {
	if l.Jitters {
		return []bool{true, false}
	}
	return []bool{l.Sliding}
}

func runLoop(t *testing.T, impl Implementation, loop Loop) {
	for _, sliding := range loop.styles() {
		name := "non-sliding"
		if sliding {
			name = "sliding"
		}
		t.Run(name, func(t *testing.T) {
			run := func(name string, test func(*testing.T, Implementation, Loop, bool)) {
				bubble(t, name, func(t *testing.T) { test(t, impl, loop, sliding) })
			}
			run("one run at a time", testOneAtATime)
			run("the first run is immediate and the next ones follow the period", testPeriod)
			run("a run longer than the period", testLongRun)
			run("stopped before it begins", testStoppedBefore)
			run("stopped while it waits", testStoppedWaiting)
			run("a stop beats a timer that is ready as well", testStopBeatsTimer)
			run("a zero period runs back to back", testZeroPeriod)
			run("the context reaches f", testLoopContext)
			run("a panic continues by default", testLoopCrashes)
			run("a panic ends one run when crashing is off", testLoopSurvives)
		})
	}
	if loop.Jitters {
		bubble(t, "jitter only adds", func(t *testing.T) { testLoopJitter(t, loop) })
		bubble(t, "a factor of zero or less is none", func(t *testing.T) { testLoopNoJitter(t, loop) })
	}
}

// bubble runs a subtest in a synctest bubble.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// starts runs the loop until f has been called n times, each call lasting work, and returns the
// start times.
func (l Loop) starts(n int, work, period time.Duration, factor float64, sliding bool) []time.Duration {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watch := newStopwatch()
	l.Run(ctx, func(context.Context) {
		last := watch.Mark() == n
		time.Sleep(work)
		if last {
			cancel()
		}
	}, period, factor, sliding)
	return watch.Marks()
}

// assertStarts compares the times at which f was called.
func assertStarts(t *testing.T, want, got []time.Duration) {
	t.Helper()
	if !slices.Equal(want, got) {
		assert.Fail(t, fmt.Sprintf("want f to be called after %v, got %v", want, got))
	}
}

func testOneAtATime(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var runs, active atomic.Int32
	loop.Run(ctx, func(context.Context) {
		assert.EqualValues(t, 1, active.Add(1), "f is called while it still runs")
		defer active.Add(-1)
		time.Sleep(25 * time.Second)
		if runs.Add(1) == 3 {
			cancel()
		}
	}, 10*time.Second, 0, sliding)
	assert.Zero(t, active.Load(), "the loop returns while f still runs")
	time.Sleep(time.Minute) // for runs that are still in progress
}

func testPeriod(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	want := seconds(0, 10, 20)
	if sliding {
		want = seconds(0, 13, 26)
	}
	assertStarts(t, want, loop.starts(3, 3*time.Second, 10*time.Second, 0, sliding))
}

func testLongRun(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	want := seconds(0, 25, 50) // at once, without catching up
	if sliding {
		want = seconds(0, 35, 70)
	}
	assertStarts(t, want, loop.starts(3, 25*time.Second, 10*time.Second, 0, sliding))
}

func testStoppedBefore(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	loop.Run(ctx, func(context.Context) { assert.Fail(t, "f was called") }, time.Second, 0, sliding)
}

func testStoppedWaiting(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	time.AfterFunc(25*time.Second, cancel)
	watch := newStopwatch()
	loop.Run(ctx, func(context.Context) { watch.Mark() }, 10*time.Second, 0, sliding)
	assertStarts(t, seconds(0, 10, 20), watch.Marks())
	assert.Equal(t, 25*time.Second, watch.Now(), "the loop returns when it is stopped, not with the next tick")
}

// testStopBeatsTimer makes both ready before the loop checks: the run lasts until the timer has
// fired and then stops the loop. A loop that relies on select runs again in every second round.
func testStopBeatsTimer(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	for range 100 {
		period := time.Second
		if sliding {
			period = 0
		}
		require.Len(t, loop.starts(1, time.Second, period, 0, sliding), 1, "f is called after the stop")
	}
}

func testZeroPeriod(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	assertStarts(t, seconds(0, 1, 2, 3), loop.starts(4, time.Second, 0, 0, sliding))
}

func testLoopContext(t *testing.T, _ Implementation, loop Loop, sliding bool) {
	ctx, cancel := context.WithCancel(markedContext())
	defer cancel()
	loop.Run(ctx, func(given context.Context) {
		assert.Equal(t, loop.Contexts, isMarked(given))
		cancel()
		if loop.Contexts {
			assert.ErrorIs(t, given.Err(), context.Canceled, "the stop reaches a run in progress through its context")
		}
	}, time.Second, 0, sliding)
}

func testLoopCrashes(t *testing.T, impl Implementation, loop Loop, sliding bool) {
	panics := loudly(t, impl)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runs := 0
	assert.PanicsWithValue(t, "first run", func() {
		loop.Run(ctx, func(context.Context) {
			if runs++; runs == 1 {
				panic("first run")
			}
			cancel() // the panic was lost
		}, time.Second, 0, sliding)
	}, "a panic of f is reported and then continues, unless ReallyCrash is off")
	assert.Equal(t, []any{"first run"}, panics())
}

func testLoopSurvives(t *testing.T, impl Implementation, loop Loop, sliding bool) {
	panics := quietly(t, impl)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watch := newStopwatch()
	loop.Run(ctx, func(context.Context) {
		if watch.Mark() == 3 {
			cancel()
		}
		panic("again")
	}, 10*time.Second, 0, sliding)
	assertStarts(t, seconds(0, 10, 20), watch.Marks())
	assert.Equal(t, []any{"again", "again", "again"}, panics())
}

func testLoopJitter(t *testing.T, loop Loop) {
	starts := loop.starts(200, 0, 10*time.Second, 0.5, true)
	different, most := map[time.Duration]bool{}, time.Duration(0)
	for i := 1; i < len(starts); i++ {
		gap := starts[i] - starts[i-1]
		different[gap], most = true, max(most, gap)
		require.GreaterOrEqual(t, gap, 10*time.Second)
		require.LessOrEqual(t, gap, 15*time.Second)
	}
	assert.Greater(t, len(different), 100, "each wait has its own jitter")
	assert.Greater(t, most, 14*time.Second, "the longest of 199 waits of 10 to 15 s")
}

func testLoopNoJitter(t *testing.T, loop Loop) {
	for _, factor := range []float64{0, -1, -100} {
		assertStarts(t, seconds(0, 10, 20), loop.starts(3, 0, 10*time.Second, factor, true))
	}
}

// testForever ends the endless loop with runtime.Goexit.
func testForever(t *testing.T, impl Implementation) {
	runs := 0
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		impl.Forever(func() {
			if runs++; runs == 3 {
				runtime.Goexit()
			}
		}, time.Microsecond)
	}()
	<-ended
	assert.Equal(t, 3, runs)
}

func runCrash(t *testing.T, impl Implementation) {
	t.Run("without a panic nothing happens", func(t *testing.T) {
		panics := loudly(t, impl)
		ran := false
		impl.Protect(t.Context(), func() { ran = true }, func(any) { assert.Fail(t, "a handler was called") })
		assert.True(t, ran)
		assert.Empty(t, panics())
	})
	t.Run("on: the handlers run and the panic continues", func(t *testing.T) {
		panics := loudly(t, impl)
		var local []any
		assert.PanicsWithValue(t, "boom", func() {
			impl.Protect(t.Context(), func() { panic("boom") }, func(value any) {
				assert.Equal(t, []any{"boom"}, panics(), "the process-wide handlers come first")
				local = append(local, value)
			})
		})
		assert.Equal(t, []any{"boom"}, panics())
		assert.Equal(t, []any{"boom"}, local)
	})
	t.Run("off: the handlers run and the panic ends", func(t *testing.T) {
		panics := quietly(t, impl)
		var local []any
		impl.Protect(t.Context(), func() { panic("boom") }, func(value any) { local = append(local, value) })
		impl.Protect(t.Context(), func() { panic("boom") }, nil)
		assert.Equal(t, []any{"boom", "boom"}, panics())
		assert.Equal(t, []any{"boom"}, local)
	})
	t.Run("the switch is read after the handlers have run", func(t *testing.T) {
		loudly(t, impl)
		turn := func(crash bool) func(any) { return func(any) { impl.SetReallyCrash(crash) } }
		assert.NotPanics(t, func() {
			impl.Protect(t.Context(), func() { panic("boom") }, turn(false))
		}, "a handler turns crashing off")
		assert.PanicsWithValue(t, "boom", func() {
			impl.Protect(t.Context(), func() { panic("boom") }, turn(true))
		}, "a handler turns crashing on")
	})
	t.Run("the handlers receive the context", func(t *testing.T) {
		quietly(t, impl)
		marked := false
		restore := impl.OnPanic(func(ctx context.Context, _ any) { marked = isMarked(ctx) })
		defer restore()
		impl.Protect(markedContext(), func() { panic("boom") }, nil)
		assert.True(t, marked)
	})
}
