package stats_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench/stats"
)

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 900, 3}
	assert.Equal(t, 4.0, stats.Median(values))
	assert.Equal(t, []float64{5, 1, 900, 3}, values, "the rounds are still in their order")
	assert.Equal(t, 5.0, stats.Median([]float64{5, 1, 900}))
	assert.True(t, math.IsNaN(stats.Median(nil)))
	assert.True(t, math.IsNaN(stats.Median([]float64{1, math.NaN(), 2})))
}

func TestSpreadIsRelativeToTheMedian(t *testing.T) {
	assert.InDelta(t, 0.3, stats.Spread([]float64{0.9, 1, 1.2}), 1e-12)
	assert.Zero(t, stats.Spread([]float64{7, 7, 7}))
	assert.Zero(t, stats.Spread([]float64{0, 0}), "nothing allocated in any round")
	assert.Zero(t, stats.Spread([]float64{4}))
	assert.InDelta(t, 1, stats.Spread([]float64{-1, -2, -3}), 1e-12)
	assert.True(t, math.IsNaN(stats.Spread(nil)))
	assert.True(t, math.IsNaN(stats.Spread([]float64{1, math.NaN()})))
}

func TestGeometricMean(t *testing.T) {
	assert.InDelta(t, 1, stats.GeometricMean([]float64{0.5, 2}), 1e-12)
	assert.InDelta(t, 4, stats.GeometricMean([]float64{2, 8}), 1e-12)
	assert.True(t, math.IsNaN(stats.GeometricMean([]float64{2, 0})))
	assert.True(t, math.IsNaN(stats.GeometricMean(nil)))
}

func TestRatiosRoundByRound(t *testing.T) {
	ratios := stats.Ratios([]float64{1, 0, 3, 0}, []float64{4, 0, 0, 2})
	assert.Equal(t, []float64{0.25, 1}, ratios[:2])
	assert.True(t, math.IsNaN(ratios[2]))
	assert.Zero(t, ratios[3])
}

func TestOneRoundThatDisagreesIsEnoughForNoDifference(t *testing.T) {
	assert.True(t, stats.Differ([]float64{0.2, 0.9, 0.99}))
	assert.True(t, stats.Differ([]float64{3, 1.01}))
	assert.False(t, stats.Differ([]float64{0.2, 0.2, 0.2, 1.01}))
	assert.False(t, stats.Differ([]float64{0.5, 1}), "even is on neither side")
	assert.False(t, stats.Differ([]float64{0.5, math.NaN()}))
	assert.False(t, stats.Differ(nil))
}

func TestLeanIsTheSignTest(t *testing.T) {
	assert.InDelta(t, 0.0625, stats.Lean([]float64{0.1, 0.2, 0.3, 0.4, 0.5}), 1e-9)
	assert.InDelta(t, 0.375, stats.Lean([]float64{0.1, 0.2, 0.3, 0.4, 2}), 1e-9, "(1+5)/32, both ways")
	assert.InDelta(t, 0.375, stats.Lean([]float64{9, 8, 7, 6, 0.2}), 1e-9, "whoever is called ours")
	assert.InDelta(t, 0.0625, stats.Lean([]float64{1, 0.1, 0.2, 0.3, 0.4, 0.5, 1}), 1e-9, "even rounds say nothing")
	assert.InDelta(t, 1, stats.Lean([]float64{0.5, 2}), 1e-9)
	assert.InDelta(t, 1, stats.Lean(nil), 1e-9)
	assert.Less(t, stats.Lean(slices.Repeat([]float64{0.5}, 5000)), 1e-300, "no overflow on the way")
}
