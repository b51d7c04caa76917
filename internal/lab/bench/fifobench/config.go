package fifobench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
)

// Config is what "lab bench fifo" can be told.
type Config struct {
	// Producers add. An informer has one, its reflector.
	Producers int
	// Keys is the number of objects to which something happens.
	Keys int
	// ObjectSize is how many bytes an object carries besides the usual fields of its head.
	ObjectSize int
	// Backlog is how many events may be on their way, as far as the producers can help it. Without a bound the first
	// part of the run would measure memory.
	Backlog int
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Producers, "producers", 1, 1, 10_000, "goroutines that add events")
	load.CountVar(flags, &c.Keys, "keys", 100_000, 1, 10_000_000, "how many objects there are")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "payload that an object carries besides its head")
	load.CountVar(flags, &c.Backlog, "backlog", 1000, 1, 1_000_000, "how many events may wait before producers do")
	c.Load.AddTo(flags, 5*time.Second, "objects")
}
