package storebench

import (
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
	"orrery/internal/program"
)

// ReaderKind is what the readers of a run do in a loop.
type ReaderKind string

const (
	// List reads a slice of all objects.
	List ReaderKind = "list"
	// ByIndex reads a slice of the objects of each namespace in turn.
	ByIndex ReaderKind = "by-index"
	// Get reads one object, chosen like the writer's.
	Get ReaderKind = "get"
)

// ReaderKinds returns all kinds.
func ReaderKinds() []ReaderKind { return []ReaderKind{List, ByIndex, Get} }

// Config holds the flags of "lab bench store".
type Config struct {
	// Objects is the number of objects in the store.
	Objects int
	// Namespaces is the number of namespaces of equal size, at most Objects.
	Namespaces int
	// Readers is the number of goroutines that read while one writes.
	Readers int
	// Reader is their kind.
	Reader ReaderKind
	// ObjectSize is an object's payload in bytes, beyond its usual metadata.
	ObjectSize int
	load.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	load.CountVar(flags, &c.Objects, "objects", 100_000, 1, 10_000_000, "how many objects are in the store")
	load.CountVar(flags, &c.Namespaces, "namespaces", 100, 1, 10_000, "how many namespaces they are in; at most one per object")
	load.CountVar(flags, &c.Readers, "readers", 4, 0, 10_000, "goroutines that read in a loop")
	program.WordVar(flags, &c.Reader, "reader", "", "kind of reader", ReaderKinds(), "what they do")
	load.SizeVar(flags, &c.ObjectSize, "object-size", "payload of an object in addition to its metadata")
	c.Load.AddTo(flags, 5*time.Second, "objects")
}
