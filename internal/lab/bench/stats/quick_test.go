package stats_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/internal/lab/bench/stats"
)

func rounds(t *rapid.T, least int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), least, 30).Draw(t, "rounds")
}

func TestAMedianHasAsManyValuesAboveAsBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rounds(t, 1)
		median := stats.Median(values)
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

func TestSwappingTheSidesTurnsEverythingRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios := rounds(t, 1)
		ones := make([]float64, len(ratios))
		for i := range ones {
			ones[i] = 1
		}
		swapped := stats.Ratios(ones, ratios)
		assert.InEpsilon(t, 1/stats.GeometricMean(ratios), stats.GeometricMean(swapped), 1e-9)
		assert.InDelta(t, stats.Lean(ratios), stats.Lean(swapped), 1e-9)
		assert.Equal(t, stats.Differ(ratios), stats.Differ(swapped))
	})
}

func TestDifferIsTheStrongestLeanThatThereIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios := rounds(t, 2) // one that is even leans nowhere, and one that is not could not lean more
		if stats.Differ(ratios) {
			assert.InEpsilon(t, math.Pow(2, float64(1-len(ratios))), stats.Lean(ratios), 1e-9)
		} else {
			assert.Greater(t, stats.Lean(ratios), math.Pow(2, float64(1-len(ratios))))
		}
	})
}
