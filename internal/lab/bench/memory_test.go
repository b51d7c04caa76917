package bench_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

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

func TestAMemoryWatchKeepsThePeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := bench.LiveHeap()
		watch := bench.WatchMemory()
		ballast := make([]byte, 32*mib)
		time.Sleep(20 * time.Millisecond) // in the bubble: several samples
		runtime.KeepAlive(ballast)
		ballast = nil
		bench.LiveHeap()
		peak := watch.Stop()
		assert.GreaterOrEqual(t, peak, before+32*mib)
		assert.Equal(t, peak, watch.Stop())
	})
}

func TestAMemoryWatchSamplesAtStartAndStop(t *testing.T) {
	ballast := make([]byte, 32*mib)
	assert.GreaterOrEqual(t, bench.WatchMemory().Stop(), uint64(32*mib))
	runtime.KeepAlive(ballast)
}
