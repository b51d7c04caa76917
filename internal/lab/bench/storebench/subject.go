package storebench

import (
	"context"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Subject is a store to be measured, with objects of its own type. Of makes one.
type Subject interface {
	// Name is how a report calls it.
	Name() string

	run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error)
	scenarios() []bench.Scenario
}

// Gear describes a store whose objects are of type T.
type Gear[T any] struct {
	// Subject is how a report calls it.
	Subject string
	// NewObject makes an object; Number and Name find in it what Pod.Number, Pod.Namespace and Pod.Name were.
	NewObject func(load.Pod) T
	Number    func(T) int64
	Name      func(T) (namespace, name string)
	// NewStore returns an empty store that computes keys from namespace and name and has an index by namespace.
	NewStore func() Store[T]
}

// Store is what the drivers need of a store. An adapter only translates. The methods that read return how many objects
// they were given, having built whatever the store gives to those who ask.
type Store[T any] interface {
	// Replace makes these the whole content.
	Replace(objects []T, resourceVersion string) error
	// Update stores an object in the place of the one with its key.
	Update(obj T) error

	// Get finds an object.
	Get(key string) (obj T, exists bool)
	// List returns the number of objects in a list of all, as a slice.
	List() int
	// ByIndex returns the number of objects in a list of those of one namespace, as a slice.
	ByIndex(namespace string) (int, error)

	// Each and EachIn show the objects of List and ByIndex, for the proof.
	Each(see func(T))
	EachIn(namespace string, see func(T)) error
}

// Of makes a Subject.
func Of[T any](gear Gear[T]) Subject { return subject[T]{gear} }

type subject[T any] struct{ gear Gear[T] }

func (s subject[T]) Name() string { return s.gear.Subject }

// Subjects are the stores of this project: the one that the program uses by default, and the one to read first.
func Subjects() []Subject { return []Subject{Fast(), Textbook()} }

// Run measures a subject with the given flags.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	chosen := *cfg
	chosen.Namespaces = min(cfg.Namespaces, cfg.Objects)
	return subject.run(ctx, chosen, meter)
}

// Scenarios are the pieces of work on which subjects are compared.
func Scenarios(subject Subject) []bench.Scenario { return subject.scenarios() }

func (s subject[T]) scenarios() []bench.Scenario {
	return []bench.Scenario{
		{Name: "store/update", Run: s.update},
		{Name: "store/by-index", Run: s.byIndex},
		{Name: "store/writes-with-readers", Run: s.writesWithReaders},
	}
}
