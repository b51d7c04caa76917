package queuebench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
)

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
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Producers, "producers", 2, 1, 10_000, "goroutines that add keys")
	load.CountVar(flags, &c.Workers, "workers", 2, 1, 10_000, "goroutines that process keys")
	load.CountVar(flags, &c.Keys, "keys", 10_000, 1, 10_000_000, "how many different keys there are")
	load.CostVar(flags, &c.HandlerCost)
	flags.BoolVar(&c.Metrics, "metrics", false, "enable the queue's metrics")
	load.DurationVar(flags, &c.Stall, "stall", 0, 0, mostStall, "stop the queue for this long in each phase: do the results show it?")
	c.Load.AddTo(flags, 2*time.Second, "keys")
}
