package syncbench

import (
	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
)

// Config holds the flags of "lab bench sync", and configures the server.
type Config struct {
	// Objects is the number of pods.
	Objects int
	// ObjectSize is the size in bytes of a pod's head in JSON. An annotation pads the head, so it
	// cannot be smaller than it is. 0: no padding, about 2.7 kB.
	ObjectSize int
	// PageSize is the most pods in a page. A server without a watch cache pages lists that have a
	// limit; both clients ask for 500. 0: everything in one page.
	PageSize int
	// Seed is the seed of the generator.
	Seed uint64
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Objects, "objects", 100_000, 1, 5_000_000, "how many pods the server has")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "the size of a pod's head in JSON; 0: its usual size, about 2.7 kB")
	load.CountVar(flags, &c.PageSize, "page-size", 0, 0, 5_000_000, "pods in a page of the list; 0: all in one")
	flags.Uint64Var(&c.Seed, "seed", 1, "seed of the pods; the same seed makes the same pods")
}
