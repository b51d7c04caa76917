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

// A handler that is told of merged events was behind since the oldest of them, not since the newest.
func TestMergedEventsAreLateSinceTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scriptOf(Config{Objects: 2}, []int{0, 1, 0, 0, 1, 1, 0, 1})
		w := newWitness(s, true)
		c := clock{witness: w, laps: make([]int32, len(s.keys))}
		const first = 8 + 2 // in the second lap
		var newest atomic.Int64
		began := time.Now()
		c.start(began, load.NewPacer(began, 1), first, &newest)

		tell := func(at time.Duration, number int) time.Duration {
			time.Sleep(at - time.Since(began))
			newest.Store(int64(number))
			c.latency = bench.Histogram{}
			c.observe(number % s.laps)
			return c.latency.Max()
		}
		// Numbers 10, 11 and 14 are of object 0, due at 0 s, 1 s and 4 s; the handler is told of the last.
		assert.Equal(t, 5*time.Second, tell(5*time.Second, 14))
		// The next one of object 0 is 16, due at 6 s, then 18, due at 8 s: merged into one again.
		assert.Equal(t, 4*time.Second, tell(10*time.Second, 18))
		// Object 1 was due at 2 s first.
		assert.Equal(t, 9*time.Second, tell(11*time.Second, 17))
	})
}
