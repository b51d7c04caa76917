package bench

import (
	"math"
	"slices"
)

// Rounds on a shared machine are not normally distributed: most are alike, and a few are far too
// slow because a neighbour was busy. So no function here takes a mean of times, and two sides are
// compared by their ratio in each round, since a disturbance affects both. An undefined result is
// NaN.

// Median returns the middle value, or the mean of the two middle values. It is NaN if there are no
// values or one of them is NaN.
func Median(values []float64) float64 {
	if len(values) == 0 || slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return sorted[middle-1] + (sorted[middle]-sorted[middle-1])/2
}

// Spread returns the range of the values relative to their median: 0.1 if they lie within a tenth
// of it. It is 0 if all values are equal, including zeros.
func Spread(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	lowest, highest := slices.Min(values), slices.Max(values)
	if lowest == highest {
		return 0
	}
	return (highest - lowest) / math.Abs(Median(values))
}

// Ratios returns a/b for each round; both must have the same length. 0/0 is 1, since the sides are
// equal; any other division by zero is NaN.
func Ratios(a, b []float64) []float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		switch {
		case a[i] == 0 && b[i] == 0:
			ratios[i] = 1
		case b[i] == 0:
			ratios[i] = math.NaN()
		default:
			ratios[i] = a[i] / b[i]
		}
	}
	return ratios
}
