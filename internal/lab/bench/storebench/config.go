package storebench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
	"orrery/internal/program"
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
)

// ReaderKinds are all of them.
func ReaderKinds() []ReaderKind { return []ReaderKind{List, ByIndex, Get} }

// Config is what "lab bench store" can be told.
type Config struct {
	// Objects in the store.
	Objects int
	// Namespaces over which they are spread evenly, at most one for each object.
	Namespaces int
	// Readers read in a loop while one goroutine writes.
	Readers int
	// Reader is what they do.
	Reader ReaderKind
	// ObjectSize is how many bytes an object carries besides the usual fields of its head.
	ObjectSize int
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Objects, "objects", 100_000, 1, 10_000_000, "how many objects are in the store")
	load.CountVar(flags, &c.Namespaces, "namespaces", 100, 1, 10_000, "how many namespaces they are in, at most one for each object")
	load.CountVar(flags, &c.Readers, "readers", 4, 0, 10_000, "goroutines that read in a loop")
	program.WordVar(flags, &c.Reader, "reader", "", "kind of reader", ReaderKinds(), "what they do")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "payload that an object carries besides its head")
	c.Load.AddTo(flags, 5*time.Second, "objects")
}
