package bench

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts durations. The zero value is empty and ready; the first duration that it counts allocates the
// buckets, 37 KiB. It belongs to one
// goroutine: give each its own and merge them when they have ended; a shared counter would measure the counter.
//
// The counting is HdrHistogram's, with two significant digits: a percentile is never below the true one and at most 1/128
// above it, up to an hour. Minimum and maximum are exact. Nothing is lost.
type Histogram struct {
	hdr      *hdrhistogram.Histogram // nil while empty
	min, max time.Duration
}

const (
	// longest is the longest duration that has a bucket of its own. Longer ones are counted with it.
	longest = time.Hour
	// digits of a duration that are kept: a bucket is at most 1/128 wide.
	digits = 2
)

// Record counts one duration. A negative one counts as zero.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	if h.hdr == nil {
		h.allocate(d)
	}
	_ = h.hdr.RecordValue(int64(min(d, longest))) // no error: it is neither negative nor too long
	h.min, h.max = min(h.min, d), max(h.max, d)
}

func (h *Histogram) allocate(first time.Duration) {
	h.hdr, h.min = hdrhistogram.New(1, int64(longest), digits), first
}

// Merge adds what other has counted.
func (h *Histogram) Merge(other *Histogram) {
	if other.hdr == nil {
		return
	}
	if h.hdr == nil {
		h.allocate(other.min)
	}
	h.hdr.Merge(other.hdr)
	h.min, h.max = min(h.min, other.min), max(h.max, other.max)
}

// Count is the number of durations.
func (h *Histogram) Count() uint64 {
	if h.hdr == nil {
		return 0
	}
	return uint64(h.hdr.TotalCount())
}

// Min is the shortest of them, exactly.
func (h *Histogram) Min() time.Duration { return h.min }

// Max is the longest, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is their mean, as exact as a percentile.
func (h *Histogram) Mean() time.Duration {
	if h.hdr == nil {
		return 0
	}
	return time.Duration(math.Round(h.hdr.Mean()))
}

// Quantile returns the duration at the nearest rank to a part q of all: Quantile(0.99) is the 99th percentile.
// Quantile(0) is the shortest of all, Quantile(1) the longest.
func (h *Histogram) Quantile(q float64) time.Duration {
	switch {
	case h.hdr == nil:
		return 0
	case q <= 0:
		return h.min
	case q >= 1:
		return h.max
	}
	return min(time.Duration(h.hdr.ValueAtPercentile(100*q)), h.max)
}
