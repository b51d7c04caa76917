package kubelet_test

import (
	"context"
	"fmt"
	"sync"

	"orrery/internal/lab/apiserver/kubelet"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// A pod runs on a simulated node, and is deleted as soon as its containers have stopped.
func Example() {
	catalog := resources.NewCatalog()
	r := registry.New(registry.Config{Store: store.New(store.Config{}), Catalog: catalog})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { kubelet.New(kubelet.Config{Registry: r, Catalog: catalog}).Run(ctx) })
	defer running.Wait()
	defer cancel()

	pods, _ := catalog.Lookup(api.PodsResource)
	target := registry.Target{Definition: pods, Version: "v1", Namespace: "default"}
	watch, _ := r.Watch(target, api.ListOptions{})
	_, err := r.Create(ctx, target, &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "web", "annotations": map[string]any{kubelet.StopsAfter: "0s"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "web:1"}}},
	}}, registry.WriteOptions{})
	if err != nil {
		panic(err)
	}
	for {
		events, err := watch.Next(ctx)
		if err != nil {
			panic(err)
		}
		for _, e := range events {
			pod := e.Object.Decode()
			fmt.Println(e.Type, pod.NestedString("status", "phase"), "on", pod.NestedString("spec", "nodeName"),
				"grace", pod.Nested("metadata", "deletionGracePeriodSeconds"))
			switch {
			case e.Type == api.WatchDeleted:
				return
			case pod.NestedString("status", "phase") == "Running" && pod.GetDeletionTimestamp() == nil:
				target.Name = "web"
				_, _, _ = r.Delete(ctx, target, api.DeleteOptions{}, registry.WriteOptions{})
			}
		}
	}
	// Output:
	// ADDED Pending on  grace <nil>
	// MODIFIED Pending on orrery-node-1 grace <nil>
	// MODIFIED Running on orrery-node-1 grace <nil>
	// MODIFIED Running on orrery-node-1 grace 30
	// MODIFIED Running on orrery-node-1 grace 0
	// DELETED Running on orrery-node-1 grace 0
}
