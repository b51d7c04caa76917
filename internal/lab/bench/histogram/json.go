package histogram

import (
	"encoding/json"
	"fmt"
	"time"
)

// document is a histogram in JSON. All durations are nanoseconds.
type document struct {
	Unit    string           `json:"unit"`
	Count   uint64           `json:"count"`
	Min     time.Duration    `json:"min"`
	Mean    float64          `json:"mean"`
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
	Count uint32        `json:"count"`
}

const unit = "ns"

// MarshalJSON writes the percentiles that people ask for and all buckets that are not empty, so that other percentiles
// can be had from it and nothing is lost when it is read again.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	d := document{
		Unit: unit, Count: h.count, Min: h.min, Max: h.max,
		P50: h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99), P999: h.Quantile(0.999),
		Buckets: []documentBucket{},
	}
	if h.count > 0 {
		d.Mean = h.sum / float64(h.count)
	}
	for b := range h.Buckets() {
		d.Buckets = append(d.Buckets, documentBucket{To: b.To, Count: uint32(b.Count)})
	}
	return json.Marshal(d)
}

// UnmarshalJSON reads what MarshalJSON has written. Percentiles are computed again. It refuses a document that is not
// a histogram of this package, or whose counts do not add up, and leaves the histogram as it was.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	if d.Unit != unit {
		return fmt.Errorf("histogram: the unit is %q, not %q", d.Unit, unit)
	}
	read := Histogram{count: d.Count, sum: d.Mean * float64(d.Count), min: d.Min, max: d.Max}
	var counted uint64
	for _, b := range d.Buckets {
		i := bucketOf(max(b.To, 0))
		if upperBound(i) != b.To {
			return fmt.Errorf("histogram: no bucket ends at %d ns", b.To)
		}
		if read.counts == nil {
			read.counts = make([]uint32, buckets)
		}
		read.counts[i] += b.Count
		counted += uint64(b.Count)
	}
	if counted != d.Count {
		return fmt.Errorf("histogram: the buckets hold %d durations, but the count is %d", counted, d.Count)
	}
	*h = read
	return nil
}
