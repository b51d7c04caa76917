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
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

func (s subject[T]) run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error) {
	r := runner[T]{
		cfg: cfg, meter: meter,
		content: newContent(s.gear, cfg.Objects, cfg.Namespaces, 1, cfg.ObjectSize),
		keys:    load.NewKeys(cfg.Objects, cfg.Distribution, cfg.Seed),
	}
	fast, err := r.saturated(ctx)
	if err != nil {
		return nil, err
	}
	r.cfg.Rate = cfg.RateOr(fast.writes, fast.took)
	latency, err := r.paced(ctx)
	if err != nil {
		return nil, err
	}
	return &bench.Result{
		Figures: append(fast.figures(cfg), bench.Figure{Name: "rate for latency", Unit: bench.PerSecond, Value: r.cfg.Rate, Better: bench.Higher}),
		Latency: latency,
		Proof: []string{
			fmt.Sprintf("%d writes as fast as possible while %d readers read %d times, completely each time; afterwards all objects in the state written last, by list, index and key",
				fast.writes, cfg.Readers, fast.reads),
			fmt.Sprintf("%d writes at %.0f a second; afterwards the same", latency.Count(), r.cfg.Rate),
		},
	}, nil
}

// runner is one run of "lab bench store".
type runner[T any] struct {
	cfg     Config
	meter   *bench.Meter
	content *content[T]
	keys    *load.Keys
}

// saturation is the result of the first part of a run.
type saturation struct {
	writes, reads int
	took          time.Duration
	usage         bench.Usage
}

func (s saturation) figures(cfg Config) []bench.Figure {
	figures := []bench.Figure{
		{Name: "writes", Unit: bench.PerSecond, Value: float64(s.writes) / s.took.Seconds(), Better: bench.Higher},
		{Name: "time per write", Unit: bench.Nanoseconds, Value: float64(s.took.Nanoseconds()) / float64(s.writes), Better: bench.Lower},
	}
	if cfg.Readers > 0 {
		figures = append(figures, bench.Figure{Name: "reads", Unit: bench.PerSecond, Value: float64(s.reads) / s.took.Seconds(), Better: bench.Higher})
	} else { // only without readers, whose allocations would be counted
		perWrite := s.usage.PerOp(s.writes)
		figures = append(figures,
			bench.Figure{Name: "allocations per write", Unit: bench.Count, Value: perWrite["allocs/op"], Better: bench.Lower},
			bench.Figure{Name: "bytes per write", Unit: bench.Bytes, Value: perWrite["B/op"], Better: bench.Lower})
	}
	return figures
}

// saturated writes as fast as possible while readers read.
func (r *runner[T]) saturated(ctx context.Context) (result saturation, err error) {
	err = r.whileReading(func(store Store[T]) error {
		r.meter.Begin("as fast as possible", "writes", r.cfg.Duration, 0)
		result.usage = bench.Measure(func() {
			result.writes, result.took, err = r.content.writeFor(ctx, store, r.cfg.Duration, r.keys.Picker(0).Next, r.meter)
		})
		return err
	}, &result.reads)
	return result, err
}

// paced writes at a fixed rate while readers read, and measures from when a write was due until it
// was done.
func (r *runner[T]) paced(ctx context.Context) (*bench.Histogram, error) {
	latency, reads := &bench.Histogram{}, 0
	err := r.whileReading(func(store Store[T]) error {
		writes := max(int(r.cfg.Rate*r.cfg.Duration.Seconds()), 1)
		r.meter.Begin(fmt.Sprintf("%.0f writes a second", r.cfg.Rate), "writes", r.cfg.Duration, int64(writes))
		start, picker := time.Now(), r.keys.Picker(0)
		pacer := load.NewPacer(start, r.cfg.Rate)
		for i := range writes {
			due, ok := pacer.Wait(ctx, i)
			if !ok {
				return ctx.Err()
			}
			if err := store.Update(r.content.next(picker.Next())); err != nil {
				return err
			}
			latency.Record(time.Since(start) - due)
			r.meter.Count(1)
		}
		return nil
	}, &reads)
	return latency, err
}

// whileReading runs write and the readers on a full store, and proves the content afterwards.
func (r *runner[T]) whileReading(write func(Store[T]) error, reads *int) error {
	store, err := r.content.fill()
	if err != nil {
		return err
	}
	readers := start(r.content.readers(r.cfg.Readers, r.cfg.Reader, store, r.keys))
	err = write(store)
	n, readError := readers.end()
	if *reads = n; err == nil {
		err = readError
	}
	if err == nil {
		err = r.content.prove(store)
	}
	return err
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
