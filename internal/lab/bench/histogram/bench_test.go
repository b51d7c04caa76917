package histogram_test

import (
	"testing"
	"time"

	"orrery/internal/lab/bench/histogram"
)

// BenchmarkRecord is what measuring adds to each event of a benchmark.
func BenchmarkRecord(b *testing.B) {
	var h histogram.Histogram
	d := time.Duration(1)
	for b.Loop() {
		h.Record(d)
		d = d*1_103_515_245%10_000_000_007 + 1
	}
}
