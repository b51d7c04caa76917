package histogram

import (
	"math/bits"
	"time"
)

const (
	subBits    = 7
	subBuckets = 1 << subBits // in an octave
	octaves    = 63 - subBits
	buckets    = (octaves + 1) * subBuckets
)

// Histogram counts durations. The zero value is empty and ready. See the package documentation.
type Histogram struct {
	counts   []uint32 // nil while empty
	count    uint64
	sum      float64
	min, max time.Duration
}

// Record counts one duration.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	if h.counts == nil {
		h.counts = make([]uint32, buckets)
		h.min = d
	}
	h.counts[bucketOf(d)]++
	h.count++
	h.sum += float64(d)
	h.min, h.max = min(h.min, d), max(h.max, d)
}

// bucketOf: durations below subBuckets have a bucket each, then come octaves of subBuckets buckets.
func bucketOf(d time.Duration) int {
	v := uint64(d)
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	return shift<<subBits + int(v>>shift)
}

// upperBound returns the longest duration that bucket i counts.
func upperBound(i int) time.Duration {
	if i < 2*subBuckets {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration(uint64(i-shift<<subBits+1)<<shift - 1)
}

// Merge adds what other has counted.
func (h *Histogram) Merge(other *Histogram) {
	if other.count == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]uint32, buckets)
		h.min = other.min
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

// Min is the shortest of them.
func (h *Histogram) Min() time.Duration { return h.min }

// Max is the longest.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is their mean, exact.
func (h *Histogram) Mean() time.Duration {
	if h.count == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.count))
}

// Quantile returns the duration that a part q of all is not longer than: Quantile(0.99) is the 99th percentile.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := uint64(q*float64(h.count-1)) + 1
	var seen uint64
	for i, n := range h.counts {
		if seen += uint64(n); seen >= rank {
			return min(upperBound(i), h.max)
		}
	}
	return h.max
}
