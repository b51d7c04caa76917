package bench

import (
	"math"
	"slices"
)

// Rounds on a shared machine are not samples of a bell curve: most are alike, and some are far too slow because a neighbour was
// busy. So nothing here takes a mean of times, and two sides are compared by their ratio, round by round: whatever disturbed a
// round disturbed both. What has no answer is NaN.

// Median returns the value in the middle, or the mean of the two that are there. It is NaN for no values, and if one of
// the values is.
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

// Spread returns how far the values are apart, relative to their median: 0.1 if they are within a tenth of it. It is 0
// for values that are all the same, zeros as well.
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

// Ratios returns a/b round by round; both must have as many rounds. Nothing to nothing is 1: neither side allocates, so
// they are equal. Something to nothing is NaN.
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

// Differ reports whether the rounds agree on who is ahead: all ratios are below 1, or all are above. It is a sign test: if
// there were no difference each round would be a coin, and five coins fall on the same side once in sixteen times.
func Differ(ratios []float64) bool {
	below, above := 0, 0
	for _, r := range ratios {
		switch {
		case r < 1:
			below++
		case r > 1:
			above++
		}
	}
	return len(ratios) > 0 && max(below, above) == len(ratios)
}
