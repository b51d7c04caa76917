package histogram

import (
	"iter"
	"math/bits"
	"time"
)

const (
	subBits    = 7
	subBuckets = 1 << subBits // in an octave
	octaves    = 63 - subBits
	buckets    = (octaves + 1) * subBuckets
)

// Bucket is a range of durations and how many are in it.
type Bucket struct {
	// From and To are the shortest and the longest duration of the range.
	From, To time.Duration
	// Count is how many there are, never 0.
	Count uint64
	// Below is the part of all durations that are not longer than To, between 0 and 1: with To it is a point of the
	// curve of percentiles.
	Below float64
}

// Buckets returns those that are not empty, the shortest durations first.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		var seen uint64
		for i, n := range h.counts {
			if n == 0 {
				continue
			}
			seen += uint64(n)
			b := Bucket{From: lowerBound(i), To: upperBound(i), Count: uint64(n), Below: float64(seen) / float64(h.count)}
			if !yield(b) {
				return
			}
		}
	}
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

// lowerBound returns the shortest duration that bucket i counts.
func lowerBound(i int) time.Duration {
	if i < 2*subBuckets {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration(i-shift<<subBits) << shift
}

// upperBound returns the longest duration that bucket i counts.
func upperBound(i int) time.Duration {
	if i+1 == buckets {
		return 1<<63 - 1
	}
	return lowerBound(i+1) - 1
}
