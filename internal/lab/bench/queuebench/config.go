package queuebench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
)

// Config is what "lab bench queue" can be told.
type Config struct {
	// Producers is the number of goroutines that add keys, Workers that of those that take them out and give them back.
	Producers, Workers int
	// Keys is the number of different keys.
	Keys int
	// HandlerCost is what a worker spends on each key.
	HandlerCost time.Duration
	// Metrics switches the queue's metrics on; they go to Sinks.
	Metrics bool
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Producers, "producers", 2, 1, 10_000, "goroutines that add keys")
	load.CountVar(flags, &c.Workers, "workers", 2, 1, 10_000, "goroutines that take keys out")
	load.CountVar(flags, &c.Keys, "keys", 10_000, 1, 10_000_000, "how many different keys there are")
	load.CostVar(flags, &c.HandlerCost)
	flags.BoolVar(&c.Metrics, "metrics", false, "switch the metrics of the queue on")
	c.Load.AddTo(flags, 2*time.Second, "keys")
}
