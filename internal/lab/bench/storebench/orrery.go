package storebench

import (
	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/lab/bench/load"
	"orrery/restclient/api"
)

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
		NewObject: load.Pod.Metadata,
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
