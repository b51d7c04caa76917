// Package queuebench has the workloads for work queues: one key's way through, concurrent producers
// and workers, delays, rate limits. A workload drives a [Queue], the part of a rate-limiting work
// queue that controllers use, and a [Subject] makes queues: [Orrery] is this project's fast queue,
// [Textbook] its textbook queue; client-go's queue and controller-runtime's priority queue are
// subjects in the module upstream. [Run] has the parameters that a user chose; [Scenarios] are
// fixed pieces of work for comparisons. The driving code is the same for all subjects. Every run
// proves that an added key is handed out afterwards, and never to two workers at once; otherwise it
// returns a [*bench.ProofError] and no figures. Run and the scenarios end their goroutines and shut
// their queues down before they return.
package queuebench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
)

// Run measures a queue of the subject in two phases. In the first, producers add keys as fast as
// they can: throughput and allocations. In the second they add keys at a steady rate:
// latency, from when a key was due until a worker is done with it. Both phases end when everything
// added has been processed, and each is proven. An unmeasured warm-up precedes them.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	keys := bench.NewKeys(cfg.Keys, cfg.Distribution, cfg.Seed)
	r := &run{
		Config: *cfg,
		keys:   keys, indexOf: keys.Index(),
		states: make([]keyState, cfg.Keys),
		cost:   bench.NewCost(cfg.HandlerCost),
	}
	if cfg.Stall > 0 {
		subject = stalling{subject, cfg.Duration / 3, cfg.Stall}
	}
	meter.Begin("warming up", cfg.Duration/10)
	if _, err := r.measure(ctx, subject, cfg.Duration/10, 0); err != nil {
		return nil, err
	}
	runtime.GC() // of the warm-up
	return bench.Driver{
		Load: cfg.Load, Meter: meter, Event: "key", Handled: "processed",
		Phase: func(ctx context.Context, p *bench.Phase) error {
			rate := 0.0
			if p.Paced() {
				rate = p.Rate
			}
			got, err := r.measure(ctx, subject, cfg.Duration, rate)
			if err != nil {
				return err
			}
			p.Done, p.Usage, p.Latency = got.processed, got.usage, got.latency
			added := float64(got.added) / got.usage.Elapsed.Seconds()
			p.More = []bench.Figure{{Name: "added", Unit: bench.PerSecond, Value: added, Better: bench.Higher}}
			p.Proof = fmt.Sprintf("%d keys added, each handed out after its last Add, never to two workers at once",
				got.added)
			return nil
		},
	}.Run(ctx)
}

// Config holds the flags of "lab bench queue".
type Config struct {
	// Producers is the number of goroutines that add keys, Workers of those that process them.
	Producers, Workers int
	// Keys is the number of different keys.
	Keys int
	// HandlerCost is the work of a worker for each key.
	HandlerCost time.Duration
	// Metrics enables the queue's metrics, with Sinks as the provider.
	Metrics bool
	// Stall is how long the queue hands out nothing, once in each of the two phases, after a third
	// of its time.
	Stall time.Duration
	bench.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Producers, "producers", 2, 1, 10_000, "goroutines that add keys")
	bench.CountVar(flags, &c.Workers, "workers", 2, 1, 10_000, "goroutines that process keys")
	bench.CountVar(flags, &c.Keys, "keys", 10_000, 1, 10_000_000, "how many different keys there are")
	bench.CostVar(flags, &c.HandlerCost)
	flags.BoolVar(&c.Metrics, "metrics", false, "enable the queue's metrics")
	bench.DurationVar(flags, &c.Stall, "stall", 0, 0, mostStall,
		"stop the queue for this long in each phase: do the results show it?")
	c.Load.AddTo(flags, "keys")
}
