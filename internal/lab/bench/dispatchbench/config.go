package dispatchbench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
	"orrery/internal/program"
)

// Config is what "lab bench dispatch" can be told.
type Config struct {
	// Handlers is the number of handlers.
	Handlers int
	// HandlerCost is what each callback takes, as work below 50 us and as waiting from there on.
	HandlerCost time.Duration
	// Objects is the number of objects in the store.
	Objects int
	// Kind is the type of the objects.
	Kind Kind
	// ObjectSize is how many bytes of payload an object carries besides a small pod's usual fields.
	ObjectSize int
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Handlers, "handlers", 1, 1, 1000, "how many handlers are told")
	load.CostVar(flags, &c.HandlerCost)
	load.CountVar(flags, &c.Objects, "objects", 10_000, 1, 1_000_000, "how many objects are in the store")
	program.WordVar(flags, &c.Kind, "kind", "", "kind of objects", []Kind{Heads, Pods}, "what the objects are")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "payload that an object carries besides the fields of a small pod")
	c.Load.AddTo(flags, 5*time.Second, "objects")
}

// emptyObject is how many bytes a small pod has, roughly.
const emptyObject = 1 << 10
