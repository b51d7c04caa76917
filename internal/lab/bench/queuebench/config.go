package queuebench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Config of a run. The zero value is two producers and two workers on ten thousand keys for two phases of two seconds.
type Config struct {
	// Producers is the number of goroutines that add keys. Default: 2.
	Producers int
	// Workers is the number of goroutines that take keys out and give them back. Default: 2.
	Workers int
	// Keys is the number of different keys. Default: 10,000.
	Keys int
	// Distribution says how often which key is added. Default: load.Uniform.
	Distribution load.Distribution
	// HandlerCost is what a worker spends on each key, at most half a minute. Default: nothing.
	HandlerCost time.Duration
	// Duration of each of the two phases. Default: 2 s.
	Duration time.Duration
	// Rate is how many keys a second all producers together add in the second phase. Default: half of what the first
	// phase has shown to be possible.
	Rate float64
	// Metrics switches the queue's metrics on; they go to Sinks.
	Metrics bool
	// Seed of the distribution. The same seed gives the same sequence of keys. Default: 1.
	Seed uint64
}

const (
	maxGoroutines = 10_000
	maxKeys       = 10_000_000
)

func (c Config) withDefaults() Config {
	c.Producers = cmp.Or(c.Producers, 2)
	c.Workers = cmp.Or(c.Workers, 2)
	c.Keys = cmp.Or(c.Keys, 10_000)
	c.Distribution = cmp.Or(c.Distribution, load.Uniform)
	c.Duration = cmp.Or(c.Duration, 2*time.Second)
	c.Seed = cmp.Or(c.Seed, 1)
	return c
}

// Validate says what is wrong with the configuration, all of it.
func (c Config) Validate() error {
	var problems []error
	within := func(name string, v, most int) {
		if v < 0 || v > most {
			problems = append(problems, fmt.Errorf("%s: %d is not between 1 and %d", name, v, most))
		}
	}
	within("producers", c.Producers, maxGoroutines)
	within("workers", c.Workers, maxGoroutines)
	within("keys", c.Keys, maxKeys)
	if c.Distribution != "" {
		if _, err := load.ParseDistribution(string(c.Distribution)); err != nil {
			problems = append(problems, fmt.Errorf("distribution: %w", err))
		}
	}
	if c.HandlerCost < 0 {
		problems = append(problems, fmt.Errorf("handler cost: %v is negative", c.HandlerCost))
	}
	if c.HandlerCost > patience/2 {
		problems = append(problems, fmt.Errorf("handler cost: %v is more than %v, after which a key counts as lost", c.HandlerCost, patience/2))
	}
	if c.Duration < 0 {
		problems = append(problems, fmt.Errorf("duration: %v is negative", c.Duration))
	}
	if !(c.Rate >= 0) || math.IsInf(c.Rate, 0) {
		problems = append(problems, fmt.Errorf("rate: %v is not a number of keys a second", c.Rate))
	}
	return errors.Join(problems...)
}

func (c Config) parameters() []bench.Parameter {
	parameters := []bench.Parameter{
		{Name: "producers", Value: strconv.Itoa(c.Producers)},
		{Name: "workers", Value: strconv.Itoa(c.Workers)},
		{Name: "keys", Value: strconv.Itoa(c.Keys)},
		{Name: "distribution", Value: string(c.Distribution)},
		{Name: "handler cost", Value: c.HandlerCost.String()},
		{Name: "duration", Value: c.Duration.String()},
	}
	if c.Rate > 0 {
		parameters = append(parameters, bench.Parameter{Name: "rate", Value: strconv.FormatFloat(c.Rate, 'f', -1, 64)})
	}
	if c.Metrics {
		parameters = append(parameters, bench.Parameter{Name: "metrics", Value: "on"})
	}
	return append(parameters, bench.Parameter{Name: "seed", Value: strconv.FormatUint(c.Seed, 10)})
}
