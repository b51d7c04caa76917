package fifobench

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Config is what "lab bench fifo" can be told. The zero value is a good start.
type Config struct {
	// Producers add. An informer has one, its reflector. Default: 1.
	Producers int
	// Keys is the number of objects to which something happens. Default: 100,000.
	Keys int
	// Distribution says to which of them how often. Default: load.Uniform.
	Distribution load.Distribution
	// ObjectSize is how many bytes an object carries besides the usual fields of its head. Default: none.
	ObjectSize int
	// Backlog is how many events may be on their way, as far as the producers can help it. Without a bound the first
	// part of the run would measure memory. Default: 1,000.
	Backlog int
	// Duration of each of the two parts of a run. Default: 5 s.
	Duration time.Duration
	// Rate of the second part, in events a second. Default: half of what the first part has managed.
	Rate float64
	// Seed chooses the order of the keys. Default: 1.
	Seed uint64
}

func (c Config) withDefaults() Config {
	c.Producers = cmp.Or(c.Producers, 1)
	c.Keys = cmp.Or(c.Keys, 100_000)
	c.Distribution = cmp.Or(c.Distribution, load.Uniform)
	c.Backlog = cmp.Or(c.Backlog, 1000)
	c.Duration = cmp.Or(c.Duration, 5*time.Second)
	c.Seed = cmp.Or(c.Seed, 1)
	return c
}

// Validate says what is wrong with the flags.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Producers < 1:
		return fmt.Errorf("%d producers: there must be at least one", c.Producers)
	case c.Keys < 1:
		return fmt.Errorf("%d keys: there must be at least one", c.Keys)
	case c.ObjectSize < 0:
		return fmt.Errorf("objects of %d bytes: the size must not be below zero", c.ObjectSize)
	case c.Backlog < 1:
		return fmt.Errorf("a backlog of %d: there must be room for at least one event", c.Backlog)
	case c.Duration < 0:
		return fmt.Errorf("a duration of %v: it must be above zero", c.Duration)
	case c.Rate < 0:
		return fmt.Errorf("a rate of %g a second: it must be above zero, or zero for half of what is possible", c.Rate)
	}
	_, err := load.ParseDistribution(string(c.Distribution))
	return err
}

func (c Config) parameters() []bench.Parameter {
	return []bench.Parameter{
		{Name: "producers", Value: strconv.Itoa(c.Producers)},
		{Name: "keys", Value: strconv.Itoa(c.Keys)},
		{Name: "distribution", Value: string(c.Distribution)},
		{Name: "object size", Value: strconv.Itoa(c.ObjectSize)},
		{Name: "backlog", Value: strconv.Itoa(c.Backlog)},
		{Name: "duration", Value: c.Duration.String()},
		{Name: "rate", Value: strconv.FormatFloat(c.Rate, 'f', 0, 64)},
		{Name: "seed", Value: strconv.FormatUint(c.Seed, 10)},
	}
}
