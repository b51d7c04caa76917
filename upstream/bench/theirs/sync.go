package main

import (
	"cmp"
	"context"
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

func (syncSubject) Start(url string) (workloads.SyncInformer, error) {
	config := &rest.Config{Host: url}
	i := &syncInformer{stop: make(chan struct{})}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	i.informer = factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer()
	i.shutdown = factory.Shutdown
	return i, i.start(factory.Start)
}

// syncInformer is a running informer.
type syncInformer struct {
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
	shutdown     func()
	stop         chan struct{}
	added        atomic.Int64
}

func (i *syncInformer) start(start func(<-chan struct{})) error {
	// Large clusters do this, and this project's metadata client always does.
	err := i.informer.SetTransform(func(object any) (any, error) {
		if head, ok := object.(metav1.Object); ok {
			head.SetManagedFields(nil)
		}
		return object, nil
	})
	if err != nil {
		return err
	}
	i.registration, err = i.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { i.added.Add(1) },
	})
	if err != nil {
		return err
	}
	start(i.stop)
	return nil
}

func (i *syncInformer) WaitForSync(ctx context.Context) error {
	select {
	case <-i.registration.HasSyncedChecker().Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (i *syncInformer) Added() int { return int(i.added.Load()) }

func (i *syncInformer) Each(visit func(*api.ObjectMeta) error) error {
	for _, object := range i.informer.GetStore().List() {
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

func (i *syncInformer) Stop() {
	close(i.stop)
	i.shutdown()
}
