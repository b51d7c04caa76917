package dispatchbench

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// The latency of merged events counts from the oldest of them.
func TestMergedEventsAreLateSinceTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scriptOf(Config{Objects: 2}, []int{0, 1, 0, 0, 1, 1, 0, 1})
		w := newWitness(s, true)
		c := clock{witness: w, laps: make([]int32, len(s.keys))}
		const first = 8 + 2 // in the second lap
		var newest atomic.Int64
		began := time.Now()
		c.start(began, load.NewPacer(began, 1), first, &newest)

		deliver := func(at time.Duration, number int) time.Duration {
			time.Sleep(at - time.Since(began))
			newest.Store(int64(number))
			c.latency = bench.Histogram{}
			c.observe(number % s.laps)
			return c.latency.Max()
		}
		// Numbers 10, 11 and 14 are of object 0, due at 0 s, 1 s and 4 s; the handler gets the
		// last.
		assert.Equal(t, 5*time.Second, deliver(5*time.Second, 14))
		// Object 0 follows with 16, due at 6 s, and 18, due at 8 s: merged again.
		assert.Equal(t, 4*time.Second, deliver(10*time.Second, 18))
		// Object 1 was first due at 2 s.
		assert.Equal(t, 9*time.Second, deliver(11*time.Second, 17))
	})
}
