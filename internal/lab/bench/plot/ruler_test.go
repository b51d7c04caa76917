package plot

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"orrery/internal/lab/bench"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis   Axis
		values []float64
		want   []string
	}{
		{Axis{Unit: bench.PerSecond}, []float64{4.2e6, 0.3e6}, []string{"0", "1 M/s", "2 M/s", "3 M/s", "4 M/s", "5 M/s"}},
		{Axis{Unit: bench.Nanoseconds}, []float64{310}, []string{"0", "100 ns", "200 ns", "300 ns", "400 ns"}},
		{Axis{Unit: bench.Bytes}, []float64{713 << 20}, []string{"0", "200 MiB", "400 MiB", "600 MiB", "800 MiB"}},
		{Axis{Unit: bench.Bytes}, []float64{3}, []string{"0", "1 B", "2 B", "3 B"}},
		{Axis{Unit: bench.Count}, []float64{0}, []string{"0", "1"}},
		{Axis{Unit: bench.Count}, []float64{0, 1, 3}, []string{"0", "1", "2", "3"}},
		{Axis{Unit: bench.Count}, []float64{0, 0.5}, []string{"0", "0.1", "0.2", "0.3", "0.4", "0.5"}},
		{Axis{Unit: bench.Count}, []float64{-2, 2}, []string{"-2", "-1", "0", "1", "2"}},
		{Axis{Unit: "×", Scale: Log10}, []float64{0.18, 1}, []string{"0.1 ×", "0.2 ×", "0.5 ×", "1 ×"}},
		{Axis{Unit: "×", Scale: Log10}, []float64{1}, []string{"0.5 ×", "1 ×", "2 ×"}},
		{Axis{Unit: bench.Nanoseconds, Scale: Log10}, []float64{0, 62, 2e6}, []string{"100 ns", "1 µs", "10 µs", "100 µs", "1 ms"}},
		{Axis{Unit: bench.Count, Scale: Log2}, []float64{1, 6}, []string{"1", "2", "4", "8"}},
		{Axis{Unit: bench.Count, Scale: Log2}, []float64{4}, []string{"2", "4", "8"}},
		{Axis{Scale: Log10}, []float64{0}, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{Axis{}, []float64{math.NaN(), math.Inf(1)}, []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
	} {
		assert.Equal(t, c.want, newRuler(c.axis, c.values, true, 5).labels, "%+v %v", c.axis, c.values)
	}
}

func TestRulerWithoutZero(t *testing.T) {
	r := newRuler(Axis{Unit: bench.Count}, []float64{100, 104}, false, 4)
	assert.Equal(t, []string{"100", "101", "102", "103", "104"}, r.labels)
	r = newRuler(Axis{Unit: bench.Count}, []float64{100}, false, 4)
	assert.LessOrEqual(t, r.low, 100.0)
	assert.GreaterOrEqual(t, r.high, 100.0)
}

// Whatever the values are: all of them are on the ruler, in their order, and there is a number of ticks that people read.
func TestRulersHoldTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) float64 {
			return math.Pow(10, rapid.Float64Range(-6, 12).Draw(t, "exponent")) * float64(rapid.IntRange(-1, 1).Draw(t, "sign"))
		})
		values := rapid.SliceOfN(value, 1, 6).Draw(t, "values")
		axis := Axis{
			Unit:  rapid.SampledFrom([]string{bench.Nanoseconds, bench.Bytes, "×"}).Draw(t, "unit"),
			Scale: rapid.SampledFrom([]Scale{Linear, Log10, Log2}).Draw(t, "scale"),
		}
		r := newRuler(axis, values, rapid.Bool().Draw(t, "zero"), 6)
		r.from, r.to = 100, 700
		if len(r.ticks) < 2 || r.scale == Linear && len(r.ticks) > 16 {
			t.Fatalf("%d ticks: %v", len(r.ticks), r.ticks)
		}
		for _, v := range values {
			at := r.at(v)
			if at < 100 || at > 700 || math.IsNaN(at) {
				t.Fatalf("%v is at %v", v, at)
			}
			onAxis := r.scale == Linear || v > 0
			if onAxis && (v < r.low*(1-1e-6)-1e-9 && r.low > 0 || v > r.high*(1+1e-6)+1e-9 && r.high > 0) {
				t.Fatalf("%v is not between %v and %v", v, r.low, r.high)
			}
			for _, w := range values {
				if v < w && at > r.at(w)+1e-6 {
					t.Fatalf("%v is at %v, behind %v at %v", v, at, w, r.at(w))
				}
			}
		}
		r.thin(tickSize)
		free := math.Inf(-1)
		for i, label := range r.labels {
			half := textWidth(label, tickSize, false) / 2
			if label == "" {
				continue
			}
			if x := r.at(r.ticks[i]); x-half < free {
				t.Fatalf("%q touches the label before", label)
			}
			free = r.at(r.ticks[i]) + half
		}
	})
}

// Values that differ by less than can be drawn once made a ruler with more ticks than there is memory.
func TestRulerOfValuesThatAreAlmostTheSame(t *testing.T) {
	for _, difference := range []float64{1e-16, 1e-12, 1e-9, 1e-6, 2e-6, 1e-3} {
		for _, unit := range []string{bench.Bytes, bench.Count} {
			r := newRuler(Axis{Unit: unit}, []float64{1e12, 1e12 * (1 + difference)}, false, 6)
			assert.LessOrEqual(t, len(r.ticks), 10, "%v", difference)
			assert.GreaterOrEqual(t, len(r.ticks), 2, "%v", difference)
		}
	}
}

func TestRound125(t *testing.T) {
	for v, want := range map[float64]float64{1: 1, 1.1: 2, 2: 2, 2.1: 5, 5: 5, 5.1: 10, 0.03: 0.05, 7e8: 1e9} {
		assert.InEpsilon(t, want, round125(v), 1e-9, v)
	}
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"a few", "words"}, wrap("  a few  words ", 10, 40, false))
	assert.Equal(t, []string{"Unbreakable"}, wrap("Unbreakable", 10, 10, false))
	assert.Empty(t, wrap("", 10, 10, false))
}
