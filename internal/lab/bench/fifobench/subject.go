package fifobench

import (
	"context"
	"errors"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Subject is a queue to be measured, with objects of its own type. Of makes one.
type Subject interface {
	// Name is how a report calls it.
	Name() string

	run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error)
	scenarios() []bench.Scenario
}

// Gear describes a queue whose objects are of type T.
type Gear[T any] struct {
	// Name is how a report calls it.
	Name string
	// NewObject makes an object, and Number finds in it what Pod.Number was.
	NewObject func(load.Pod) T
	Number    func(T) int64
	// NewQueue returns an empty queue in front of a store, of the kind that its users have there, that holds the
	// known objects.
	NewQueue func(known []T) (Queue[T], error)
	// NoRelist says that Replace leaves the comparison with the known objects to the consumer, so that timing it
	// would say nothing.
	NoRelist bool
}

// Queue is what the drivers need of a queue. An adapter only translates.
type Queue[T any] interface {
	// Add queues that the object exists, by whatever name.
	Add(obj T) error
	// Replace queues that these are all objects.
	Replace(objects []T, resourceVersion string) error
	// Popper returns a function that waits for something and shows what the queue hands out at once, oldest first:
	// for an object that is gone the last known state of it and deleted. It returns ErrClosed when the queue is closed
	// and empty.
	Popper(see func(obj T, deleted bool)) (pop func() error)
	// Close lets the queue run dry.
	Close()
}

// ErrClosed is what a popper returns when there will be nothing more.
var ErrClosed = errors.New("fifobench: the queue is closed and empty")

// Of makes a Subject.
func Of[T any](gear Gear[T]) Subject { return subject[T]{gear} }

type subject[T any] struct{ gear Gear[T] }

func (s subject[T]) Name() string { return s.gear.Name }

// Subjects are the queues of this project. The first one is what its programs use.
func Subjects() []Subject { return []Subject{Fast(), Textbook(), InOrder()} }

// Run measures a subject with the given flags.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	return subject.run(ctx, *cfg, meter)
}

// Scenarios are the pieces of work on which subjects are compared.
func Scenarios(subject Subject) []bench.Scenario { return subject.scenarios() }

func (s subject[T]) scenarios() []bench.Scenario {
	all := []bench.Scenario{{Name: "fifo/add-pop", Run: s.addPop}}
	if !s.gear.NoRelist {
		all = append(all, bench.Scenario{Name: "fifo/relist", Run: s.relist})
	}
	return all
}
