package plot

import "orrery/internal/bench/histogram"

// Percentiles draws histograms of latencies the way that HdrHistogram made popular: each 9 more of the percentile has as
// much room as the one before, so that the tail, where the trouble is, can be seen.
type Percentiles struct {
	// Title is the headline; Caption, below it, says how to read the picture. Both are wrapped.
	Title, Caption string
	// Series are the histograms, in the order of the legend. With one there is no legend.
	Series []Distribution
}

// Distribution is one histogram.
type Distribution struct {
	Name    string
	Latency *histogram.Histogram
}

// SVG draws the percentiles.
func (p Percentiles) SVG() []byte { return nil }
