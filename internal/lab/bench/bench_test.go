package bench_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

func TestProveNamesTheFailedCheck(t *testing.T) {
	require.NoError(t, bench.Prove("keys processed", 7, 7))
	err := fmt.Errorf("queue: %w", bench.Prove("keys processed", 1_000, 998))
	var proof *bench.ProofError
	require.ErrorAs(t, err, &proof)
	assert.Equal(t, &bench.ProofError{What: "keys processed", Want: 1_000, Got: 998}, proof)
	assert.EqualError(t, err, "queue: the work was not done: keys processed: got 998, want 1000")
}

const mib = 1 << 20

func TestLiveHeapCountsReachableObjects(t *testing.T) {
	before := bench.LiveHeap()
	ballast := make([]byte, 32*mib)
	during := bench.LiveHeap()
	runtime.KeepAlive(ballast)
	after := bench.LiveHeap()
	assert.InDelta(t, 32*mib, int64(during-before), 2*mib)
	assert.InDelta(t, 0, int64(after)-int64(before), 2*mib)
}

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
		assert.Positive(t, usage.Elapsed)
		sink = sink[:0]
	}
}
