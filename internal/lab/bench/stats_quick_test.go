package bench_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/internal/lab/bench"
)

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
