package storebench

import (
	"iter"

	"orrery/indexer"
	"orrery/indexer/naive"
	"orrery/informer"
	"orrery/internal/lab/bench/pods"
	"orrery/restclient/api"
)

type object = *api.PartialObjectMetadata

// Orrery is package indexer.
func Orrery() Subject {
	return ours("orrery", func(config indexer.Config[object]) objects { return indexer.New(config) })
}

// Naive is package indexer/naive: two maps under one read-write lock.
func Naive() Subject {
	return ours("naive", func(config indexer.Config[object]) objects { return plain{naive.New(config)} })
}

func ours(name string, newStore func(indexer.Config[object]) objects) Subject {
	return Of(Gear[object]{
		Subject:   name,
		NewObject: pods.Pod.Metadata,
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

// objects are what both of our stores can do.
type objects interface {
	Replace(items []object, resourceVersion string) error
	Update(obj object) error
	GetByKey(key string) (object, bool)
	List() []object
	ByIndex(name, value string) ([]object, error)
	All() iter.Seq2[string, object]
}

// plain gives the naive store an iteration: over a list, since its lock cannot be held while a loop takes its time.
type plain struct{ *naive.Store[object] }

func (p plain) All() iter.Seq2[string, object] {
	return func(yield func(string, object) bool) {
		for _, obj := range p.List() {
			if !yield("", obj) {
				return
			}
		}
	}
}

type store struct{ objects }

func (s store) Get(key string) (object, bool) { return s.GetByKey(key) }
func (s store) List() int                     { return len(s.objects.List()) }

func (s store) ByIndex(namespace string) (int, error) {
	found, err := s.objects.ByIndex(informer.NamespaceIndex, namespace)
	return len(found), err
}

func (s store) Iterate() int {
	n := 0
	for _, obj := range s.All() {
		if obj != nil {
			n++
		}
	}
	return n
}

func (s store) Each(see func(object)) {
	for _, obj := range s.objects.List() {
		see(obj)
	}
}

func (s store) EachIn(namespace string, see func(object)) error {
	found, err := s.objects.ByIndex(informer.NamespaceIndex, namespace)
	for _, obj := range found {
		see(obj)
	}
	return err
}
