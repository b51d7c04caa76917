package plot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

// The curve agrees with the histogram, reaches the slowest value, and has each point once.
func TestCurveOfAHistogram(t *testing.T) {
	h := &bench.Histogram{}
	for i := range 10_000 {
		h.Record(time.Duration(i+1) * time.Microsecond)
	}
	points := curveOf(h)
	require.Greater(t, len(points), 100)
	assert.Less(t, points[0].X, 1.1)
	assert.Equal(t, Point{X: 10_000, Y: Value{At: float64(h.Max())}}, points[len(points)-1])
	ticks := 0
	for i, point := range points {
		if i > 0 {
			assert.Greater(t, point.X, points[i-1].X)
			assert.GreaterOrEqual(t, point.Y.At, points[i-1].Y.At)
		}
		if i < len(points)-1 {
			assert.InEpsilon(t, 1-1/point.X, point.Y.At/1e7, 0.02, "1 - 1/%v of 10 ms", point.X)
		}
		if isPercentileTick(point) {
			ticks++
		}
	}
	assert.Equal(t, 5, ticks, "50, 90, 99, 99.9 and 99.99 %")
}
