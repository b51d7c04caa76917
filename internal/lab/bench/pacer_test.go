package bench_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

func TestDuesAreEvenlySpaced(t *testing.T) {
	pacer := bench.NewPacer(time.Now(), 3_000_000)
	assert.Zero(t, pacer.Due(0))
	assert.Equal(t, 333*time.Nanosecond, pacer.Due(1))
	assert.Equal(t, time.Microsecond, pacer.Due(3))
	assert.Equal(t, 1000*time.Second, pacer.Due(3_000_000_000), "no drift")
	assert.Equal(t, 4*time.Hour, bench.NewPacer(time.Now(), 0.25/3600).Due(1))
	assert.Zero(t, bench.NewPacer(time.Now(), math.Inf(1)).Due(1000), "as fast as possible")
}

func TestWaitingOnTheClockOfABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, rate := range []float64{2, 1000, 250_000, 4_000_000} {
			start := time.Now()
			pacer := bench.NewPacer(start, rate)
			for i := range 1000 {
				due, ok := pacer.Wait(t.Context(), i)
				require.True(t, ok)
				require.Equal(t, pacer.Due(i), due)
				require.Equal(t, due, time.Since(start))
			}
		}
	})
}

// A slow subject does not delay the events after it: this is the difference to a closed loop.
func TestALateEventIsNotDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		pacer := bench.NewPacer(start, 1000)
		var late []time.Duration
		for i := range 6 {
			due, ok := pacer.Wait(t.Context(), i)
			require.True(t, ok)
			late = append(late, time.Since(start)-due)
			if i == 1 {
				time.Sleep(3500 * time.Microsecond)
			}
		}
		us := time.Microsecond
		assert.Equal(t, []time.Duration{0, 0, 2500 * us, 1500 * us, 500 * us, 0}, late)
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, ok := bench.NewPacer(start, 0.01).Wait(ctx, 1)
		assert.False(t, ok)
		assert.Equal(t, time.Second, time.Since(start))
		_, ok = bench.NewPacer(start, 1_000_000).Wait(ctx, 1)
		assert.False(t, ok, "a late event")
	})
}

// On the real clock lateness depends on the machine, so the test asserts only that no event is
// early and none is missing.
func TestNoEventIsEarly(t *testing.T) {
	for _, rate := range []float64{50, 1000, 30_000, 2_000_000} {
		start := time.Now()
		pacer := bench.NewPacer(start, rate)
		for i := range 5 {
			due, ok := pacer.Wait(t.Context(), i)
			early := due - time.Since(start)
			require.True(t, ok)
			require.LessOrEqual(t, early, time.Duration(0))
		}
	}
}
