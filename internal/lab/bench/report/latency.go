package report

import "orrery/internal/lab/bench/histogram"

// latencies are what reports say of a histogram, with the names that JSON and CSV have for them.
var latencies = []struct {
	name string
	of   func(h *histogram.Histogram) float64 // ns
}{
	{"p50", quantile(0.5)},
	{"p90", quantile(0.9)},
	{"p99", quantile(0.99)},
	{"p99.9", quantile(0.999)},
	{"max", func(h *histogram.Histogram) float64 { return float64(h.Max()) }},
}

func quantile(q float64) func(*histogram.Histogram) float64 {
	return func(h *histogram.Histogram) float64 { return float64(h.Quantile(q)) }
}

// has tells whether there is something to say. Percentiles of nothing would be zeros.
func has(h *histogram.Histogram) bool { return h != nil && h.Count() > 0 }
