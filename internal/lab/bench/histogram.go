package bench

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts durations. The zero value is empty and ready for use; the first Record allocates
// the buckets, 37 KiB. A histogram must not be shared by goroutines: give each its own and merge
// them afterwards.
//
// It counts with HdrHistogram and two significant digits: up to an hour, a percentile is never
// below the true one and at most 1/128 above it. The maximum is exact.
type Histogram struct {
	hdr *hdrhistogram.Histogram // nil while empty
	max time.Duration
}

const (
	// longest is the longest duration with a bucket of its own; longer ones share it.
	longest = time.Hour
	// digits is the number of significant digits: a bucket is at most 1/128 wide.
	digits = 2
)

// Record counts d, or zero if d is negative.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.allocate()
	_ = h.hdr.RecordValue(int64(min(d, longest))) // never fails: the value is within bounds
	h.max = max(h.max, d)
}

func (h *Histogram) allocate() {
	if h.hdr == nil {
		h.hdr = hdrhistogram.New(1, int64(longest), digits)
	}
}

// Merge adds the durations counted by other.
func (h *Histogram) Merge(other *Histogram) {
	if other.hdr != nil {
		h.allocate()
		h.hdr.Merge(other.hdr)
		h.max = max(h.max, other.max)
	}
}

// Count returns the number of durations.
func (h *Histogram) Count() uint64 {
	if h.hdr == nil {
		return 0
	}
	return uint64(h.hdr.TotalCount())
}

// Max returns the exact maximum.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration at the nearest rank to the fraction q: Quantile(0.99) is the 99th
// percentile, Quantile(1) the maximum. The fraction must be above zero.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.hdr == nil || q >= 1 {
		return h.max
	}
	return min(time.Duration(h.hdr.ValueAtPercentile(100*q)), h.max)
}
