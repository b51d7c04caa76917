package storebench

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// ReaderKind is what the readers of a run do in a loop.
type ReaderKind string

// The kinds.
const (
	// List asks for a slice of all objects.
	List ReaderKind = "list"
	// ByIndex asks for a slice of the objects of one namespace, of each in turn.
	ByIndex ReaderKind = "by-index"
	// Get looks up one object, chosen as the writer's are.
	Get ReaderKind = "get"
	// Iterate looks at all objects without asking for a slice, where the store has a way to do that.
	Iterate ReaderKind = "iterate"
)

// ReaderKinds are all of them.
func ReaderKinds() []ReaderKind { return []ReaderKind{List, ByIndex, Get, Iterate} }

// ParseReaderKind returns the kind of that name.
func ParseReaderKind(text string) (ReaderKind, error) {
	names := []string{}
	for _, kind := range ReaderKinds() {
		if strings.EqualFold(text, string(kind)) {
			return kind, nil
		}
		names = append(names, string(kind))
	}
	return "", fmt.Errorf("readers cannot %q: choose one of %s", text, strings.Join(names, ", "))
}

// Config is what "lab bench store" can be told. The zero value is a good start.
type Config struct {
	// Objects in the store. Default: 100,000.
	Objects int
	// Namespaces over which they are spread evenly. Default: 100, or as many as there are objects.
	Namespaces int
	// ObjectSize is how many bytes an object carries besides the usual fields of its head. Default: none.
	ObjectSize int
	// Readers read in a loop while one goroutine writes. Default: 4; -1 for none.
	Readers int
	// Reader is what they do. Default: List.
	Reader ReaderKind
	// Distribution says which objects are written (and looked up by Get) how often. Default: load.Uniform.
	Distribution load.Distribution
	// Duration of each of the two parts of a run. Default: 5 s.
	Duration time.Duration
	// Rate of the second part, in writes a second. Default: half of what the first part has managed.
	Rate float64
	// Seed chooses the order of the objects. Default: 1.
	Seed uint64
}

func (c Config) withDefaults() Config {
	c.Objects = cmp.Or(c.Objects, 100_000)
	c.Namespaces = cmp.Or(c.Namespaces, max(min(c.Objects, 100), 1))
	c.Readers = cmp.Or(c.Readers, 4)
	c.Reader = cmp.Or(c.Reader, List)
	c.Distribution = cmp.Or(c.Distribution, load.Uniform)
	c.Duration = cmp.Or(c.Duration, 5*time.Second)
	c.Seed = cmp.Or(c.Seed, 1)
	return c
}

// Validate says what is wrong with the flags.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Objects < 1:
		return fmt.Errorf("%d objects: there must be at least one", c.Objects)
	case c.Namespaces < 1 || c.Namespaces > c.Objects:
		return fmt.Errorf("%d namespaces: there must be at least one, and at most one for each object", c.Namespaces)
	case c.ObjectSize < 0:
		return fmt.Errorf("objects of %d bytes: the size must not be below zero", c.ObjectSize)
	case c.Readers < -1:
		return fmt.Errorf("%d readers: there cannot be fewer than none (-1)", c.Readers)
	case c.Duration < 0:
		return fmt.Errorf("a duration of %v: it must be above zero", c.Duration)
	case c.Rate < 0:
		return fmt.Errorf("a rate of %g a second: it must be above zero, or zero for half of what is possible", c.Rate)
	}
	if _, err := ParseReaderKind(string(c.Reader)); err != nil {
		return err
	}
	_, err := load.ParseDistribution(string(c.Distribution))
	return err
}

// readers is their number.
func (c Config) readers() int { return max(c.Readers, 0) }

func (c Config) parameters() []bench.Parameter {
	return []bench.Parameter{
		{Name: "objects", Value: strconv.Itoa(c.Objects)},
		{Name: "readers", Value: strconv.Itoa(c.readers())},
		{Name: "reader", Value: string(c.Reader)},
		{Name: "namespaces", Value: strconv.Itoa(c.Namespaces)},
		{Name: "distribution", Value: string(c.Distribution)},
		{Name: "object size", Value: strconv.Itoa(c.ObjectSize)},
		{Name: "duration", Value: c.Duration.String()},
		{Name: "rate", Value: strconv.FormatFloat(c.Rate, 'f', 0, 64)},
		{Name: "seed", Value: strconv.FormatUint(c.Seed, 10)},
	}
}
