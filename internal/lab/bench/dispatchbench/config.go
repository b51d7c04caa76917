package dispatchbench

import (
	"cmp"
	"fmt"
	"time"

	"orrery/internal/lab/bench/load"
)

// Config is what somebody can choose about a run. The zero value is useful.
type Config struct {
	// Handlers is the number of handlers. Default: 1.
	Handlers int
	// HandlerCost is what each callback takes, as work below 50 us and as waiting from there on. Default: nothing.
	HandlerCost time.Duration
	// Objects is the number of objects in the store. Default: 10,000.
	Objects int
	// Distribution says which objects change how often. Default: load.Uniform.
	Distribution load.Distribution
	// Kind is the type of the objects. Default: Heads.
	Kind Kind
	// Size is how many bytes of payload an object carries besides a small pod's usual fields. Default: 0.
	Size int
	// Churn is the share of the events, 0 to 1, that delete an object or bring it back; the others change one.
	Churn float64
	// Duration is how long each of the two phases takes. Default: 5 s.
	Duration time.Duration
	// Rate is the number of events a second of the paced phase. Default: half of what the saturated phase reached.
	Rate float64
	// Seed makes runs repeatable. Default: 1.
	Seed uint64
}

func (c Config) withDefaults() Config {
	c.Handlers = cmp.Or(c.Handlers, 1)
	c.Objects = cmp.Or(c.Objects, 10_000)
	c.Distribution = cmp.Or(c.Distribution, load.Uniform)
	c.Kind = cmp.Or(c.Kind, Heads)
	c.Duration = cmp.Or(c.Duration, 5*time.Second)
	c.Seed = cmp.Or(c.Seed, 1)
	return c
}

// What keeps the objects of a run in the memory of a laptop.
const (
	maxObjects  = 1_000_000
	maxMemory   = 2 << 30
	emptyObject = 1 << 10 // bytes of a small pod, roughly
)

// Validate says what is wrong with the values that were chosen.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Handlers < 1 || c.Handlers > 1000:
		return fmt.Errorf("handlers must be between 1 and 1000, not %d", c.Handlers)
	case c.HandlerCost < 0:
		return fmt.Errorf("the cost of a handler cannot be negative: %v", c.HandlerCost)
	case c.Objects < 1 || c.Objects > maxObjects:
		return fmt.Errorf("objects must be between 1 and %d, not %d", maxObjects, c.Objects)
	case c.Kind != Heads && c.Kind != Pods:
		return fmt.Errorf("there is no kind of objects %q: choose %s or %s", c.Kind, Heads, Pods)
	case c.Size < 0:
		return fmt.Errorf("the size of an object cannot be negative: %d", c.Size)
	case int64(c.Objects) > maxMemory/(emptyObject+int64(c.Size)):
		return fmt.Errorf("%d objects of %d bytes are more than %d MiB: choose fewer or smaller ones", c.Objects, c.Size, maxMemory>>20)
	case c.Churn < 0 || c.Churn > 1:
		return fmt.Errorf("churn is a share between 0 and 1, not %v", c.Churn)
	case c.Duration < 0:
		return fmt.Errorf("the duration cannot be negative: %v", c.Duration)
	case c.Rate < 0:
		return fmt.Errorf("the rate cannot be negative: %v", c.Rate)
	}
	_, err := load.ParseDistribution(string(c.Distribution))
	return err
}
