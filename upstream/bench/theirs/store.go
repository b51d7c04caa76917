package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"orrery/internal/lab/bench/workloads"
	"orrery/restclient/api"
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

// Sync is client-go's metadata informer on its metadata client, as its factory creates it.
func Sync() workloads.SyncSubject { return syncSubject{} }

type syncSubject struct{}

func (syncSubject) Name() string { return "client-go" }

func (syncSubject) Start(url string) (*workloads.SyncInformer, error) {
	client, err := metadata.NewForConfig(&rest.Config{Host: url})
	if err != nil {
		return nil, err
	}
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	pods := factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer()
	// Large clusters do this, and this project's metadata client always does.
	err = pods.SetTransform(func(object any) (any, error) {
		if head, ok := object.(metav1.Object); ok {
			head.SetManagedFields(nil)
		}
		return object, nil
	})
	if err != nil {
		return nil, err
	}
	added := new(atomic.Int64)
	registration, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { added.Add(1) }})
	if err != nil {
		return nil, err
	}
	stop := make(chan struct{})
	factory.Start(stop)
	each := func(visit func(*api.ObjectMeta) error) error { return eachHead(pods.GetStore().List(), visit) }
	return &workloads.SyncInformer{
		Synced: registration.HasSyncedChecker().Done(), Added: added, Each: each, Stop: func() {
			close(stop)
			factory.Shutdown()
		},
	}, nil
}

func eachHead(objects []any, visit func(*api.ObjectMeta) error) error {
	for _, object := range objects {
		head, ok := object.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("a %T in the cache", object)
		}
		text, err := json.Marshal(head.ObjectMeta)
		if err != nil {
			return err
		}
		read := &api.ObjectMeta{}
		if err := cmp.Or(json.Unmarshal(text, read), visit(read)); err != nil {
			return err
		}
	}
	return nil
}
