package fifobench

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"orrery/deltafifo"
	"orrery/deltafifo/fast"
	"orrery/deltafifo/inorder"
	"orrery/indexer"
	faststore "orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/lab/bench"
	"orrery/restclient/api"
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
	NewObject func(bench.Pod) T
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

type object = *api.PartialObjectMetadata

// Fast returns package deltafifo/fast in front of package indexer/fast.
func Fast() Subject {
	return Of(gear("fast", func(cfg deltafifo.Config[object]) deltafifo.Interface[object] { return fast.New(cfg) }))
}

// Textbook returns package deltafifo in front of the same store: one lock, held for everything.
func Textbook() Subject {
	return Of(gear("textbook", func(cfg deltafifo.Config[object]) deltafifo.Interface[object] { return deltafifo.New(cfg) }))
}

// InOrder returns package deltafifo/inorder in front of the same store: every event separately, in
// order of arrival.
func InOrder() Subject {
	g := gear("inorder", func(cfg deltafifo.Config[object]) deltafifo.Interface[object] { return inorder.New(cfg) })
	g.NoRelist = true
	return Of(g)
}

func gear(name string, newQueue func(deltafifo.Config[object]) deltafifo.Interface[object]) Gear[object] {
	return Gear[object]{
		Name:      name,
		NewObject: bench.Pod.Metadata,
		Number:    func(obj object) int64 { return obj.Generation },
		NewQueue: func(known []object) (Queue[object], error) {
			store := faststore.New(indexer.Config[object]{
				KeyFunc:  informer.MetaNamespaceKeyFunc[object],
				Indexers: indexer.Indexers[object]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[object]},
			})
			cfg := deltafifo.Config[object]{KeyFunc: informer.MetaNamespaceKeyFunc[object], KnownObjects: store}
			return queue{newQueue(cfg)}, store.Replace(known, "1")
		},
	}
}

type queue struct{ deltafifo.Interface[object] }

// batch is the most keys that the consumer takes at once from a queue with PopBatch.
const batch = 64

func (q queue) Popper(see func(obj object, deleted bool)) (pop func() error) {
	process := func(_ string, d deltafifo.Deltas[object], _ bool) error {
		for i := range d {
			see(d[i].Object, d[i].Type == deltafifo.Deleted)
		}
		return nil
	}
	take := func() error {
		_, err := q.Pop(process)
		return err
	}
	if batches, ok := q.Interface.(interface {
		PopBatch(limit int, process func(key string, d deltafifo.Deltas[object], isInInitialList bool) error) (keys int, err error)
	}); ok {
		take = func() error {
			_, err := batches.PopBatch(batch, process)
			return err
		}
	}
	return func() error {
		err := take()
		if errors.Is(err, deltafifo.ErrFIFOClosed) {
			return ErrClosed
		}
		return err
	}
}

// Config holds the flags of "lab bench fifo".
type Config struct {
	// Producers is the number of adding goroutines. An informer has one, its reflector.
	Producers int
	// Keys is the number of objects that change.
	Keys int
	// ObjectSize is an object's payload in bytes, beyond its usual metadata.
	ObjectSize int
	// Backlog is the number of events in flight at which producers wait. Without this bound the
	// first part of the run would measure memory.
	Backlog int
	bench.Load
}

// AddTo adds a flag for each field.
func (c *Config) AddTo(flags *pflag.FlagSet) {
	bench.CountVar(flags, &c.Producers, "producers", 1, 1, 10_000, "goroutines that add events")
	bench.CountVar(flags, &c.Keys, "keys", 100_000, 1, 10_000_000, "how many objects there are")
	bench.SizeVar(flags, &c.ObjectSize, "object-size", "payload of an object in addition to its metadata")
	bench.CountVar(flags, &c.Backlog, "backlog", 1000, 1, 1_000_000, "how many events may wait before producers do")
	c.Load.AddTo(flags, "objects")
}
