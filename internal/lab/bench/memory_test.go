package bench_test

import (
	"runtime"
	"testing"

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
