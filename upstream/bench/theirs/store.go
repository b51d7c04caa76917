package main

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"orrery/internal/lab/bench/workloads"
)

// object is what the queues and stores hold: a pod's metadata.
type object = *metav1.PartialObjectMetadata

var objects = workloads.Objects[object]{
	New:    newObject,
	Number: func(obj object) int64 { return obj.Generation },
	Key:    func(obj object) string { return obj.Namespace + "/" + obj.Name },
}

// newObject is workloads.Pod.Metadata for the original's type.
func newObject(p workloads.Pod) object {
	return &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       strings.Clone(p.Namespace),
			Name:            strings.Clone(p.Name),
			UID:             types.UID(p.UID()),
			ResourceVersion: p.ResourceVersion(),
			Generation:      p.Number,
			Labels:          workloads.PodLabels,
		},
	}
}

func boxed(objects []object) []any {
	all := make([]any, len(objects))
	for i, obj := range objects {
		all[i] = obj
	}
	return all
}

func newIndexer() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

// Store is client-go's store with an index by namespace.
func Store() workloads.StoreGear[object] {
	newStore := func() workloads.Store[object] { return store{newIndexer()} }
	return workloads.StoreGear[object]{Subject: "client-go", Objects: objects, NewStore: newStore}
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

func (s store) List(see func(object)) int { return seeAll(s.Indexer.List(), see) }

func (s store) ByIndex(namespace string, see func(object)) (int, error) {
	found, err := s.Indexer.ByIndex(cache.NamespaceIndex, namespace)
	return seeAll(found, see), err
}

// seeAll calls see with each object, unless it is nil, and returns the number of objects.
func seeAll(found []any, see func(object)) int {
	if see != nil {
		for _, stored := range found {
			see(stored.(object))
		}
	}
	return len(found)
}
