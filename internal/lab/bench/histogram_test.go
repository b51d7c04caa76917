package bench_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/bench"
)

func of(durations ...time.Duration) *bench.Histogram {
	var h bench.Histogram
	for _, d := range durations {
		h.Record(d)
	}
	return &h
}

func TestAnEmptyHistogram(t *testing.T) {
	var h bench.Histogram
	assert.Zero(t, h.Count())
	assert.Zero(t, h.Min())
	assert.Zero(t, h.Mean())
	assert.Zero(t, h.Quantile(0.99))
	assert.Zero(t, h.Max())
}

func TestShortDurationsAreExact(t *testing.T) {
	var h bench.Histogram
	for d := range time.Duration(100) {
		h.Record(d + 1)
	}
	for percent := range 100 {
		q := float64(percent+1) / 100
		assert.EqualValues(t, percent+1, h.Quantile(q), "%v", q)
	}
	assert.EqualValues(t, 1, h.Quantile(0))
	assert.EqualValues(t, 100, h.Quantile(1))
	assert.EqualValues(t, 100, h.Quantile(7), "more than all")
	assert.EqualValues(t, 51, h.Mean(), "50.5, rounded")
}

func TestTheLongestAndTheShortestAreExact(t *testing.T) {
	h := of(123_456_789, 987_654_321)
	assert.EqualValues(t, 123_456_789, h.Min())
	assert.EqualValues(t, 987_654_321, h.Max())
	assert.EqualValues(t, 987_654_321, h.Quantile(0.999), "no percentile is longer than the longest")
	assert.InEpsilon(t, 555_555_555, h.Mean(), 1.0/128)
}

func TestExtremes(t *testing.T) {
	h := of(math.MaxInt64, math.MinInt64, -1, 0)
	assert.EqualValues(t, 4, h.Count())
	assert.Zero(t, h.Min(), "negative durations count as zero")
	assert.EqualValues(t, math.MaxInt64, h.Max())
	assert.EqualValues(t, math.MaxInt64, h.Quantile(1))
}

func TestMergingIntoAndFromNothing(t *testing.T) {
	var h bench.Histogram
	h.Merge(&bench.Histogram{})
	assert.Zero(t, h.Count())
	h.Merge(of(7, 9))
	assert.Equal(t, of(7, 9), &h)
	h.Merge(&bench.Histogram{})
	assert.Equal(t, of(7, 9), &h)
}

func TestRecordingAllocatesOnce(t *testing.T) {
	h := of(1)
	assert.Zero(t, testing.AllocsPerRun(100, func() { h.Record(time.Minute) }))
}
