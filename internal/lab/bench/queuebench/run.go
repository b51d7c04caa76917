package queuebench

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Run measures one queue of the subject in two phases. In the first the producers add keys as fast as they can, without
// regard to the workers: throughput, allocations, the most memory. In the second they add them at a steady rate:
// latency, from when a key was due to be added until a worker has dealt with it. Both phases end when all that was
// added has been dealt with, and so does what is proven of both. A short phase without figures goes before them.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	keys := load.NewKeys(cfg.Keys, cfg.Distribution, cfg.Seed)
	r := &run{
		Config: *cfg,
		keys:   keys, indexOf: keys.Index(),
		cells: make([]cell, cfg.Keys),
		cost:  load.NewCost(cfg.HandlerCost),
		meter: meter,
	}
	if _, err := r.phase(ctx, subject, "warming up", cfg.Duration/10, 0); err != nil {
		return nil, err
	}
	before := bench.LiveHeap()
	memory := bench.WatchMemory()
	full, err := r.phase(ctx, subject, "as fast as it goes", cfg.Duration, 0)
	peak := memory.Stop()
	if err != nil {
		return nil, err
	}
	rate := cfg.RateOr(full.processed, full.usage.Elapsed)
	paced, err := r.phase(ctx, subject, fmt.Sprintf("%.0f keys a second", rate), cfg.Duration, rate)
	if err != nil {
		return nil, err
	}
	return &bench.Result{
		Figures: full.figures(peak-min(peak, before), rate),
		Latency: &paced.latency,
		Proof: []string{
			fmt.Sprintf("%d keys added as fast as it goes, each handed out after its last Add, never to two workers at once", full.added),
			fmt.Sprintf("the same for %d keys added at a steady rate", paced.added),
		},
	}, nil
}

// figures of a phase as fast as it goes, with the rate of the one after it.
func (p *phase) figures(peak uint64, rate float64) []bench.Figure {
	seconds := p.usage.Elapsed.Seconds()
	each := func(v float64) float64 { return v / float64(max(p.processed, 1)) }
	return []bench.Figure{
		{Name: "processed", Unit: bench.PerSecond, Value: float64(p.processed) / seconds, Better: bench.Higher},
		{Name: "added", Unit: bench.PerSecond, Value: float64(p.added) / seconds, Better: bench.Higher},
		{Name: "CPU per key", Unit: bench.Nanoseconds, Value: each(float64(p.usage.CPU / time.Nanosecond)), Better: bench.Lower},
		{Name: "allocations per key", Unit: bench.Count, Value: each(float64(p.usage.Allocs)), Better: bench.Lower},
		{Name: "allocated per key", Unit: bench.Bytes, Value: each(float64(p.usage.Bytes)), Better: bench.Lower},
		{Name: "peak memory", Unit: bench.Bytes, Value: float64(peak), Better: bench.Lower},
		{Name: "rate for latency", Unit: bench.PerSecond, Value: rate, Better: bench.Higher},
	}
}
