package bench_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

var sink [][]byte

// Go counts allocations per processor and adds them up now and then. Reading the sum alone would
// miss the first few, or count those of earlier work.
func TestMeasureCountsEverySingleAllocation(t *testing.T) {
	sink = make([][]byte, 0, 100_000)
	for _, n := range []int{0, 1, 3, 100, 100_000} {
		usage := bench.Measure(func() {
			for range n {
				sink = append(sink, make([]byte, 48))
			}
		})
		// The runtime makes a few allocations of its own.
		assert.InDelta(t, n, usage.Allocs, 20, "%d allocations", n)
		assert.InDelta(t, 48*n, usage.Bytes, 20_000, "%d allocations", n)
		sink = sink[:0]
	}
}

func TestMeasureCountsSmallObjectsThatShareABlock(t *testing.T) {
	var last *byte
	usage := bench.Measure(func() {
		for range 10_000 {
			last = new(byte)
		}
	})
	runtime.KeepAlive(last)
	assert.InDelta(t, 10_000, usage.Allocs, 20)
}

func TestMeasureTakesTheTimeOfTheWork(t *testing.T) {
	done := false
	usage := bench.Measure(func() {
		for range 1000 {
			sink = append(sink[:0], make([]byte, 1<<20)) // a gigabyte in total, so collections are certain
		}
		done = true
	})
	assert.True(t, done)
	assert.Positive(t, usage.Elapsed)
	assert.Positive(t, usage.CPU)
	assert.Positive(t, usage.Collections)
	sink = nil
}
