package histogram

import (
	"math"
	"time"
)

// Histogram counts durations. The zero value is empty and ready; the first duration that it counts allocates the
// buckets. See the package documentation.
type Histogram struct {
	counts   []uint32 // by bucket; nil while empty
	count    uint64
	sum      float64
	min, max time.Duration
}

// Record counts one duration.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	if h.counts == nil {
		h.allocate(d)
	}
	h.counts[bucketOf(d)]++
	h.count++
	h.sum += float64(d)
	h.min, h.max = min(h.min, d), max(h.max, d)
}

func (h *Histogram) allocate(first time.Duration) {
	h.counts = make([]uint32, buckets)
	h.min = first
}

// Merge adds what other has counted.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	if h.counts == nil {
		h.allocate(other.min)
	}
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.count += other.count
	h.sum += other.sum
	h.min, h.max = min(h.min, other.min), max(h.max, other.max)
}

// Count is the number of durations.
func (h *Histogram) Count() uint64 { return h.count }

// Min is the shortest of them, exactly.
func (h *Histogram) Min() time.Duration { return h.min }

// Max is the longest, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is their mean, exactly but for the rounding.
func (h *Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(math.Round(h.sum / float64(h.count)))
}

// Quantile returns the shortest duration that at least a part q of all is not longer than: Quantile(0.99) is the 99th
// percentile. Quantile(0) is the shortest of all, Quantile(1) the longest.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	if q <= 0 {
		return h.min
	}
	// The part is taken a hair smaller: 0.07*100 is a hair more than 7 in binary, but the seventh is meant.
	rank := uint64(math.Ceil(q * float64(h.count) * (1 - 1e-12)))
	var seen uint64
	for i, n := range h.counts {
		if seen += uint64(n); seen >= rank {
			return min(upperBound(i), h.max)
		}
	}
	return h.max
}
