package bench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// durations draws durations of all magnitudes, from nanoseconds to half an hour.
func durations(t *rapid.T, name string) []time.Duration {
	any := rapid.Custom(func(t *rapid.T) time.Duration {
		bits := rapid.IntRange(0, 41).Draw(t, "bits")
		return time.Duration(rapid.Uint64Max(1<<bits-1).Draw(t, "value"))
	})
	return rapid.SliceOfN(any, 0, 300).Draw(t, name)
}

// The model is the sorted list.
func TestPercentilesEqualThoseOfTheSortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := durations(t, "durations")
		h := of(list...)
		slices.Sort(list)
		require.EqualValues(t, len(list), h.Count())
		if len(list) == 0 {
			return
		}
		assert.Equal(t, list[0], h.Min())
		assert.Equal(t, list[len(list)-1], h.Max())
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		rank := min(max(int(q*float64(len(list))+0.5), 1), len(list)) // nearest rank
		want, got := list[rank-1], h.Quantile(q)
		assert.GreaterOrEqual(t, got, want)
		assert.LessOrEqual(t, float64(got-want), float64(want)/128)
	})
}

func TestMergingEqualsRecordingInOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := durations(t, "a"), durations(t, "b")
		merged := of(a...)
		merged.Merge(of(b...))
		both := of(slices.Concat(a, b)...)
		for _, q := range []float64{0.25, 0.5, 0.9, 0.99} {
			assert.Equal(t, both.Quantile(q), merged.Quantile(q))
		}
		assert.Equal(t, both.Min(), merged.Min())
		assert.Equal(t, both.Max(), merged.Max())
		assert.Equal(t, both.Mean(), merged.Mean())
	})
}
