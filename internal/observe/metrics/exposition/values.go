package exposition

import (
	"math"
	"slices"
	"sync/atomic"
)

// Counter is a number that never decreases.
type Counter struct{ n atomic.Uint64 }

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Value returns the number.
func (c *Counter) Value() float64 { return float64(c.n.Load()) }

// Gauge is a number that can be set. Its zero value is 0.
type Gauge struct{ bits atomic.Uint64 }

// Set sets the number.
func (g *Gauge) Set(value float64) { g.bits.Store(math.Float64bits(value)) }

// Value returns the number.
func (g *Gauge) Value() float64 { return math.Float64frombits(g.bits.Load()) }

// Histogram counts observations in buckets.
type Histogram struct {
	bounds  []float64       // upper bounds, ascending, without infinity
	buckets []atomic.Uint64 // one more than bounds; not cumulative
	sum     atomic.Uint64   // bits of a float64
}

func newHistogram(bounds []float64) *Histogram {
	return &Histogram{bounds: bounds, buckets: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts one observation. A bucket includes its bound.
func (h *Histogram) Observe(value float64) {
	i, _ := slices.BinarySearch(h.bounds, value)
	h.buckets[i].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+value)) {
			return
		}
	}
}

// Sum returns the sum of all observations.
func (h *Histogram) Sum() float64 { return math.Float64frombits(h.sum.Load()) }

// cumulative returns the number of observations up to each bound, and up to infinity.
func (h *Histogram) cumulative() []uint64 {
	counts := make([]uint64, len(h.buckets))
	var total uint64
	for i := range h.buckets {
		total += h.buckets[i].Load()
		counts[i] = total
	}
	return counts
}
