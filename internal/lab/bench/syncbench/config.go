package syncbench

import (
	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
)

// Format is the encoding in which the server answers clients that read both.
type Format string

// The two formats.
const (
	JSON     Format = "json"
	Protobuf Format = "protobuf"
)

// Name is that of the format.
func (f Format) Name() string { return string(f) }

// Config is what "lab bench sync" can be told, and what a server is started with.
type Config struct {
	// Objects is the number of pods.
	Objects int
	// ObjectSize is the size in bytes of the head of a pod in JSON. It is reached with an annotation, so it cannot be less
	// than a head has anyway. 0: whatever a head has, about 2.7 kB.
	ObjectSize int
	// Format of the server's answers.
	Format Format
	// PageSize makes the server answer in pages of so many pods at most, as one without a watch cache does with lists that
	// have a limit; both clients ask for 500. 0: everything in one page.
	PageSize int
	// Seed of the generator.
	Seed uint64
}

// AddTo adds a flag for each field but the format.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Objects, "objects", 100_000, 1, 5_000_000, "how many pods the server has")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "the size of a pod's head in JSON; 0: what it usually has, about 2.7 kB")
	load.CountVar(flags, &c.PageSize, "page-size", 0, 0, 5_000_000, "pods in a page of the list; 0: all in one")
	flags.Uint64Var(&c.Seed, "seed", 1, "seed of the pods; the same seed makes the same pods")
}
