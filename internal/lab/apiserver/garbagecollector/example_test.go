package garbagecollector_test

import (
	"context"
	"fmt"
	"sync"

	"orrery/internal/lab/apiserver/garbagecollector"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// An object goes because its owner has gone.
func Example() {
	catalog := resources.NewCatalog()
	r := registry.New(registry.Config{Store: store.New(store.Config{}), Catalog: catalog})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { garbagecollector.New(garbagecollector.Config{Registry: r, Catalog: catalog}).Run(ctx) })
	defer running.Wait()
	defer cancel()

	configMaps, _ := catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	target := registry.Target{Definition: configMaps, Version: "v1", Namespace: "default"}
	create := func(metadata map[string]any) *store.Object {
		o, err := r.Create(ctx, target, &api.Unstructured{Object: map[string]any{"metadata": metadata}}, registry.WriteOptions{})
		if err != nil {
			panic(err)
		}
		return o
	}
	owner := create(map[string]any{"name": "owner"})
	create(map[string]any{"name": "child", "ownerReferences": []any{
		map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.UID},
	}})

	watch, _ := r.Watch(target, api.ListOptions{ResourceVersion: fmt.Sprint(owner.Version)})
	target.Name = "owner"
	_, _, _ = r.Delete(ctx, target, api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground}, registry.WriteOptions{})
	for told := 0; told < 3; {
		events, err := watch.Next(ctx)
		if err != nil {
			panic(err)
		}
		for _, e := range events {
			fmt.Println(e.Type, e.Object.Key.Name)
			told++
		}
	}
	// Output:
	// ADDED child
	// DELETED owner
	// DELETED child
}
