// Package storebench measures stores of objects with an index by namespace: the cost of an event,
// of a look-up, and of readers and the writer to each other. One goroutine writes, as an informer's
// loop does, and any number read. The driver is the same for all stores; a [Gear] describes the
// store and its objects. [Run] is one run with the flags of "lab bench store": first as fast as
// possible, then with writes at a fixed rate for the latency. [Scenarios] are the fixed pieces of
// work of the comparison. A run has figures only if every read was complete and the store finally
// holds, by every read method, the states written last; otherwise it returns a [*bench.ProofError].
// Objects are made before the clock starts.
package storebench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

func (s subject[T]) run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error) {
	c := newContent(s.gear, cfg.Objects, cfg.Namespaces, 1, cfg.ObjectSize)
	keys := bench.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed)
	phase := func(ctx context.Context, p *bench.Phase) error { return c.phase(ctx, p, cfg, keys) }
	result, err := bench.Driver{Load: cfg.Load, Meter: meter, Event: "write", Handled: "writes", Phase: phase}.Run(ctx)
	if err != nil || cfg.Readers == 0 {
		return result, err
	}
	// The readers' cost would be counted.
	cost := func(f bench.Figure) bool { return strings.HasSuffix(f.Name, " per write") }
	result.Figures = slices.DeleteFunc(result.Figures, cost)
	return result, nil
}

// phase writes while readers read, and proves the content afterwards. A latency ends when the write
// is done.
func (c *content[T]) phase(ctx context.Context, p *bench.Phase, cfg Config, keys *bench.Keys) error {
	store, err := c.fill()
	if err != nil {
		return err
	}
	readers := start(c.readers(cfg.Readers, cfg.Reader, store, keys))
	p.Begin()
	p.Usage = bench.Measure(func() {
		err = p.Produce(ctx, 1, keys, func(_, event, key int) error {
			err := store.Update(c.next(key))
			if p.Done++; p.Paced() {
				p.Latency.Record(p.Late(event))
			}
			return err
		})
	})
	reads, readError := readers.end()
	if cfg.Readers > 0 {
		perSecond := float64(reads) / p.Usage.Elapsed.Seconds()
		p.More = []bench.Figure{{Name: "reads", Unit: bench.PerSecond, Value: perSecond, Better: bench.Higher}}
	}
	p.Proof = fmt.Sprintf("%d writes while %d readers read %d times, completely each time; "+
		"afterwards all objects in the state written last, by list, index and key", p.Done, cfg.Readers, reads)
	return cmp.Or(err, readError, c.prove(store))
}

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
	bench.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Objects, "objects", 100_000, 1, 10_000_000, "how many objects are in the store")
	bench.CountVar(flags, &c.Namespaces, "namespaces", 100, 1, 10_000,
		"how many namespaces they are in; at most one per object")
	bench.CountVar(flags, &c.Readers, "readers", 4, 0, 10_000, "goroutines that read in a loop")
	program.WordVar(flags, &c.Reader, "reader", "", "kind of reader", ReaderKinds(), "what they do")
	bench.SizeVar(flags, &c.ObjectSize, "object-size", "payload of an object in addition to its metadata")
	c.Load.AddTo(flags, "objects")
}
