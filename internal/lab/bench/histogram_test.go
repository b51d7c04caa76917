package bench_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/bench"
)

func of(durations ...time.Duration) *bench.Histogram {
	var h bench.Histogram
	for _, d := range durations {
		h.Record(d)
	}
	return &h
}

func TestExtremes(t *testing.T) {
	h := of(math.MaxInt64, math.MinInt64, -1, 0)
	assert.EqualValues(t, 4, h.Count())
	assert.Zero(t, h.Quantile(0.75), "negative durations count as zero")
	assert.EqualValues(t, math.MaxInt64, h.Max())
	assert.EqualValues(t, math.MaxInt64, h.Quantile(1))
}

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
			assert.Zero(t, h.Quantile(0.5)+h.Quantile(0.99)+h.Max())
			return
		}
		assert.Equal(t, list[len(list)-1], h.Max())
		q := rapid.Float64Range(0.001, 1).Draw(t, "q")
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
		assert.Equal(t, both.Max(), merged.Max())
	})
}

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
