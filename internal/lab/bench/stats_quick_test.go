package bench_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/internal/lab/bench"
)

func rounds(t *rapid.T, least int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), least, 30).Draw(t, "rounds")
}

func TestAMedianHasAsManyValuesAboveAsBelow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rounds(t, 1)
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

func TestDifferIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios := rounds(t, 1)
		ones := make([]float64, len(ratios))
		for i := range ones {
			ones[i] = 1
		}
		swapped := bench.Ratios(ones, ratios)
		assert.Equal(t, bench.Differ(ratios), bench.Differ(swapped))
	})
}
