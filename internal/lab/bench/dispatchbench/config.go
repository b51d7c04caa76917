package dispatchbench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
	"orrery/internal/program"
)

// Config holds the flags of "lab bench dispatch".
type Config struct {
	Handlers int
	// HandlerCost is the duration of each callback: work below 50 us, sleep from there on.
	HandlerCost time.Duration
	// Objects is the number of objects in the store.
	Objects int
	// Kind is the type of the objects.
	Kind Kind
	// ObjectSize is an object's payload in bytes, beyond the usual fields of a small pod.
	ObjectSize int
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Handlers, "handlers", 1, 1, 1000, "how many handlers there are")
	load.CostVar(flags, &c.HandlerCost)
	load.CountVar(flags, &c.Objects, "objects", 10_000, 1, 1_000_000, "how many objects are in the store")
	program.WordVar(flags, &c.Kind, "kind", "", "kind of objects", []Kind{Heads, Pods}, "what the objects are")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "payload of an object in addition to a small pod's fields")
	c.Load.AddTo(flags, 5*time.Second, "objects")
}

// emptyObject is the approximate size of a small pod in bytes.
const emptyObject = 1 << 10
