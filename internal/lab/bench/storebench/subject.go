package storebench

import (
	"context"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/lab/bench"
	"orrery/restclient/api"
)

// Subject is a store to be measured, with objects of its own type. Use Of to make one.
type Subject interface {
	// Name is the name in reports.
	Name() string

	run(ctx context.Context, cfg Config, meter *bench.Meter) (*bench.Result, error)
	scenarios() []bench.Scenario
}

// Gear describes a store whose objects are of type T.
type Gear[T any] struct {
	// Subject is the name in reports.
	Subject string
	// NewObject makes an object; Number and Name return the Pod.Number, Pod.Namespace and Pod.Name
	// it was made with.
	NewObject func(bench.Pod) T
	Number    func(T) int64
	Name      func(T) (namespace, name string)
	// NewStore returns an empty store with namespace/name keys and an index by namespace.
	NewStore func() Store[T]
}

// Store is the part of a store that the drivers use. An adapter only translates. List and ByIndex
// build what the store returns to its callers, and return the number of objects.
type Store[T any] interface {
	// Replace makes objects the whole content.
	Replace(objects []T, resourceVersion string) error
	// Update replaces the object with the same key.
	Update(obj T) error

	// Get returns the object with the given key.
	Get(key string) (obj T, exists bool)
	// List returns the length of a slice of all objects.
	List() int
	// ByIndex returns the length of a slice of the objects of one namespace.
	ByIndex(namespace string) (int, error)

	// Each and EachIn call see for the objects of List and ByIndex, for the proof.
	Each(see func(T))
	EachIn(namespace string, see func(T)) error
}

// Of returns the subject that gear describes.
func Of[T any](gear Gear[T]) Subject { return subject[T]{gear} }

type subject[T any] struct{ gear Gear[T] }

func (s subject[T]) Name() string { return s.gear.Subject }

// Subjects returns the stores of this project: the default, and the textbook form.
func Subjects() []Subject { return []Subject{Fast(), Textbook()} }

// Run measures a subject with the given flags.
func Run(ctx context.Context, subject Subject, cfg *Config, meter *bench.Meter) (*bench.Result, error) {
	chosen := *cfg
	chosen.Namespaces = min(cfg.Namespaces, cfg.Objects)
	return subject.run(ctx, chosen, meter)
}

// Scenarios returns the pieces of work on which subjects are compared.
func Scenarios(subject Subject) []bench.Scenario { return subject.scenarios() }

func (s subject[T]) scenarios() []bench.Scenario {
	return []bench.Scenario{
		{Name: "store/update", Run: s.update},
		{Name: "store/by-index", Run: s.byIndex},
		{Name: "store/writes-with-readers", Run: s.writesWithReaders},
	}
}

type object = *api.PartialObjectMetadata

// Fast returns package indexer/fast.
func Fast() Subject {
	return ours("fast", func(config indexer.Config[object]) indexer.Interface[object] { return fast.New(config) })
}

// Textbook returns package indexer: maps under one read-write lock.
func Textbook() Subject {
	return ours("textbook", func(config indexer.Config[object]) indexer.Interface[object] { return indexer.New(config) })
}

func ours(name string, newStore func(indexer.Config[object]) indexer.Interface[object]) Subject {
	return Of(Gear[object]{
		Subject:   name,
		NewObject: bench.Pod.Metadata,
		Number:    func(obj object) int64 { return obj.Generation },
		Name:      func(obj object) (string, string) { return obj.Namespace, obj.Name },
		NewStore: func() Store[object] {
			return store{newStore(indexer.Config[object]{
				KeyFunc:  informer.MetaNamespaceKeyFunc[object],
				Indexers: indexer.Indexers[object]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[object]},
			})}
		},
	})
}

type store struct{ indexer.Interface[object] }

func (s store) Get(key string) (object, bool) { return s.GetByKey(key) }
func (s store) List() int                     { return len(s.Interface.List()) }

func (s store) ByIndex(namespace string) (int, error) {
	found, err := s.Interface.ByIndex(informer.NamespaceIndex, namespace)
	return len(found), err
}

func (s store) Each(see func(object)) {
	for _, obj := range s.Interface.List() {
		see(obj)
	}
}

func (s store) EachIn(namespace string, see func(object)) error {
	found, err := s.Interface.ByIndex(informer.NamespaceIndex, namespace)
	for _, obj := range found {
		see(obj)
	}
	return err
}
