package histogram

import (
	"encoding/json"
	"iter"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Histogram counts durations. The zero value is empty and ready; the first duration that it counts allocates the
// buckets. See the package documentation.
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
		if h.hdr == nil {
			return
		}
		var seen int64
		for _, bar := range h.hdr.Distribution() {
			if bar.Count == 0 {
				continue
			}
			seen += bar.Count
			if !yield(Bucket{
				From: time.Duration(bar.From), To: time.Duration(bar.To), Count: uint64(bar.Count),
				Below: float64(seen) / float64(h.hdr.TotalCount()),
			}) {
				return
			}
		}
	}
}

// document is a histogram in JSON. All durations are nanoseconds.
type document struct {
	Unit    string           `json:"unit"`
	Count   uint64           `json:"count"`
	Min     time.Duration    `json:"min"`
	Mean    time.Duration    `json:"mean"`
	P50     time.Duration    `json:"p50"`
	P90     time.Duration    `json:"p90"`
	P99     time.Duration    `json:"p99"`
	P999    time.Duration    `json:"p99.9"`
	Max     time.Duration    `json:"max"`
	Buckets []documentBucket `json:"buckets"`
}

// documentBucket is a bucket that is not empty.
type documentBucket struct {
	To    time.Duration `json:"to"` // the longest duration that it counts
	Count uint64        `json:"count"`
}

// MarshalJSON writes the percentiles that people ask for and all buckets that are not empty, so that other percentiles
// can be computed from it.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	d := document{
		Unit: "ns", Count: h.Count(), Min: h.min, Max: h.max, Mean: h.Mean(),
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99), P999: h.Quantile(0.999),
		Buckets: []documentBucket{},
	}
	for b := range h.Buckets() {
		d.Buckets = append(d.Buckets, documentBucket{To: b.To, Count: b.Count})
	}
	return json.Marshal(d)
}
