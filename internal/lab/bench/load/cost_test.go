package load_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench/load"
)

func TestACostInABubbleIsSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{-1, 0, 1, time.Microsecond, 49 * time.Microsecond, time.Second} {
			start := time.Now()
			load.NewCost(d).Spend()
			assert.Equal(t, max(d, 0), time.Since(start))
		}
	})
}

// The duration of work depends on the machine's load, so the test compares the amount.
func TestACostIsWorkOrSleep(t *testing.T) {
	short, long := load.NewCost(time.Microsecond), load.NewCost(49*time.Microsecond)
	assert.NotEqual(t, load.Cost{}, short)
	assert.NotEqual(t, short, long)
	assert.Equal(t, load.Cost{}, load.NewCost(0))
	start := time.Now()
	load.NewCost(time.Millisecond).Spend()
	assert.GreaterOrEqual(t, time.Since(start), time.Millisecond)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		load.Cost{}.Spend()
		short.Spend()
	}))
}
