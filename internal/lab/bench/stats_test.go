package bench_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/internal/lab/bench"
)

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 900, 3}
	assert.Equal(t, 4.0, bench.Median(values))
	assert.Equal(t, []float64{5, 1, 900, 3}, values, "the input keeps its order")
	assert.Equal(t, 5.0, bench.Median([]float64{5, 1, 900}))
	assert.True(t, math.IsNaN(bench.Median(nil)))
	assert.True(t, math.IsNaN(bench.Median([]float64{1, math.NaN(), 2})))
}

func TestSpreadIsRelativeToTheMedian(t *testing.T) {
	assert.InDelta(t, 0.3, bench.Spread([]float64{0.9, 1, 1.2}), 1e-12)
	assert.Zero(t, bench.Spread([]float64{7, 7, 7}))
	assert.Zero(t, bench.Spread([]float64{0, 0}), "nothing allocated in any round")
	assert.Zero(t, bench.Spread([]float64{4}))
	assert.InDelta(t, 1, bench.Spread([]float64{-1, -2, -3}), 1e-12)
	assert.True(t, math.IsNaN(bench.Spread(nil)))
	assert.True(t, math.IsNaN(bench.Spread([]float64{1, math.NaN()})))
}

func TestRatiosRoundByRound(t *testing.T) {
	ratios := bench.Ratios([]float64{1, 0, 3, 0}, []float64{4, 0, 0, 2})
	assert.Equal(t, []float64{0.25, 1}, ratios[:2])
	assert.True(t, math.IsNaN(ratios[2]))
	assert.Zero(t, ratios[3])
}

func rounds(t *rapid.T) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), 1, 30).Draw(t, "rounds")
}

func TestAMedianHasAsManyValuesAboveAsBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rounds(t)
		median := bench.Median(values)
		var below, above int
		for _, v := range values {
			if v <= median {
				below++
			}
			if v >= median {
				above++
			}
		}
		assert.GreaterOrEqual(t, 2*below, len(values))
		assert.GreaterOrEqual(t, 2*above, len(values))
	})
}
