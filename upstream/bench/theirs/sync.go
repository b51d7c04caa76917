package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"orrery/internal/lab/bench/workloads"
	"orrery/restclient/api"
)

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
