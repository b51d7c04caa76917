package main

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/storebench"
)

// object is what the queues and stores hold: a pod's metadata.
type object = *metav1.PartialObjectMetadata

// newObject is bench.Pod.Metadata for the original's type.
func newObject(p bench.Pod) object {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       strings.Clone(p.Namespace),
			Name:            strings.Clone(p.Name),
			UID:             types.UID(p.UID()),
			ResourceVersion: p.ResourceVersion(),
			Generation:      p.Number,
			Labels:          bench.PodLabels,
			Annotations:     p.Annotations(),
		},
	}
}

func number(obj object) int64 { return obj.Generation }

func boxed(objects []object) []any {
	all := make([]any, len(objects))
	for i, obj := range objects {
		all[i] = obj
	}
	return all
}

func newIndexer() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// Store is client-go's store with an index by namespace.
func Store() storebench.Subject {
	return storebench.Of(storebench.Gear[object]{
		Subject:   "client-go",
		NewObject: newObject,
		Number:    number,
		Name:      func(obj object) (string, string) { return obj.Namespace, obj.Name },
		NewStore:  func() storebench.Store[object] { return store{newIndexer()} },
	})
}

type store struct{ cache.Indexer }

func (s store) Replace(objects []object, resourceVersion string) error {
	return s.Indexer.Replace(boxed(objects), resourceVersion)
}

func (s store) Update(obj object) error { return s.Indexer.Update(obj) }

func (s store) Get(key string) (object, bool) {
	stored, exists, err := s.GetByKey(key)
	if !exists || err != nil {
		return nil, false
	}
	return stored.(object), true
}

func (s store) List() int { return len(s.Indexer.List()) }

func (s store) ByIndex(namespace string) (int, error) {
	found, err := s.Indexer.ByIndex(cache.NamespaceIndex, namespace)
	return len(found), err
}

func (s store) Each(see func(object)) {
	for _, stored := range s.Indexer.List() {
		see(stored.(object))
	}
}

func (s store) EachIn(namespace string, see func(object)) error {
	found, err := s.Indexer.ByIndex(cache.NamespaceIndex, namespace)
	for _, stored := range found {
		see(stored.(object))
	}
	return err
}
