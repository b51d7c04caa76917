package fifobench

import (
	"context"
	"errors"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
)

// Subject is a queue to be measured, with objects of its own type. Use Of to make one.
type Subject interface {
	// Name is the name in reports.
	Name() string

	run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error)
	scenarios() []bench.Scenario
}

// Gear describes a queue whose objects are of type T.
type Gear[T any] struct {
	// Name is the name in reports.
	Name string
	// NewObject makes an object, and Number returns the Pod.Number it was made with.
	NewObject func(load.Pod) T
	Number    func(T) int64
	// NewQueue returns an empty queue in front of its usual kind of store, which holds the known
	// objects.
	NewQueue func(known []T) (Queue[T], error)
	// NoRelist is true if Replace leaves the comparison with the known objects to the consumer.
	// Timing such a Replace would mean nothing.
	NoRelist bool
}

// Queue is the part of a queue that the drivers use. An adapter only translates.
type Queue[T any] interface {
	// Add queues that the object exists, as an addition or an update.
	Add(obj T) error
	// Replace queues that these are all the objects.
	Replace(objects []T, resourceVersion string) error
	// Popper returns a function that waits for a delta and calls see with everything that the queue
	// hands out at once, oldest first. For a deleted object, see gets its last known state and
	// deleted is true. pop returns ErrClosed when the queue is closed and empty.
	Popper(see func(obj T, deleted bool)) (pop func() error)
	// Close closes the queue. Its content can still be popped.
	Close()
}

// ErrClosed is returned by a popper when the queue is closed and empty.
var ErrClosed = errors.New("fifobench: the queue is closed and empty")

// Of returns the subject that gear describes.
func Of[T any](gear Gear[T]) Subject { return subject[T]{gear} }

type subject[T any] struct{ gear Gear[T] }

func (s subject[T]) Name() string { return s.gear.Name }

// Subjects returns the queues of this project. The first is the default.
func Subjects() []Subject { return []Subject{Fast(), Textbook(), InOrder()} }

// Run measures a subject with the given flags.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	return subject.run(ctx, *cfg, meter)
}

// Scenarios returns the pieces of work on which subjects are compared.
func Scenarios(subject Subject) []bench.Scenario { return subject.scenarios() }

func (s subject[T]) scenarios() []bench.Scenario {
	all := []bench.Scenario{{Name: "fifo/add-pop", Run: s.addPop}}
	if !s.gear.NoRelist {
		all = append(all, bench.Scenario{Name: "fifo/relist", Run: s.relist})
	}
	return all
}
