package stats

import (
	"math"
	"slices"
)

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

// GeometricMean returns the mean for values that are multiplied: of 0.5 and 2 it is 1.
func GeometricMean(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	var sum float64
	for _, v := range values {
		if !(v > 0) {
			return math.NaN()
		}
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
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

// Differ tells whether the rounds agree on who is ahead: all ratios are below 1, or all are above.
func Differ(ratios []float64) bool {
	below, above := sides(ratios)
	return len(ratios) > 0 && max(below, above) == len(ratios)
}

// Lean returns how likely the rounds would be at least as one-sided as they are if there were no difference: the p-value
// of the sign test, both ways. Rounds that came out even say nothing and are left out. Five rounds of five give 0.0625,
// eight of eight 0.0078.
func Lean(ratios []float64) float64 {
	below, above := sides(ratios)
	n := below + above
	var p float64
	for k := range min(below, above) + 1 {
		p += math.Exp(logBinomial(n, k) - float64(n)*math.Ln2)
	}
	return min(2*p, 1)
}

func sides(ratios []float64) (below, above int) {
	for _, r := range ratios {
		switch {
		case r < 1:
			below++
		case r > 1:
			above++
		}
	}
	return below, above
}

// logBinomial returns the logarithm of n over k; the number itself would not fit for a few thousand rounds.
func logBinomial(n, k int) float64 {
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}

func logFactorial(n int) float64 {
	log, _ := math.Lgamma(float64(n) + 1)
	return log
}
