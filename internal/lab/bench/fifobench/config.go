package fifobench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
)

// Config holds the flags of "lab bench fifo".
type Config struct {
	// Producers is the number of adding goroutines. An informer has one, its reflector.
	Producers int
	// Keys is the number of objects that change.
	Keys int
	// ObjectSize is an object's payload in bytes, beyond its usual metadata.
	ObjectSize int
	// Backlog is the number of events in flight at which producers wait. Without this bound the
	// first part of the run would measure memory.
	Backlog int
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Producers, "producers", 1, 1, 10_000, "goroutines that add events")
	load.CountVar(flags, &c.Keys, "keys", 100_000, 1, 10_000_000, "how many objects there are")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "payload of an object in addition to its metadata")
	load.CountVar(flags, &c.Backlog, "backlog", 1000, 1, 1_000_000, "how many events may wait before producers do")
	c.Load.AddTo(flags, 5*time.Second, "objects")
}
