package registry_test

import (
	"context"
	"fmt"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// The server's side of the deletion of a namespace.
func Example() {
	catalog := resources.NewCatalog()
	r := registry.New(registry.Config{Store: store.New(store.Config{}), Catalog: catalog})
	target := func(resource, namespace, name string) registry.Target {
		d, _ := catalog.Lookup(api.GroupVersionResource{Version: "v1", Resource: resource})
		return registry.Target{Definition: d, Version: "v1", Namespace: namespace, Name: name}
	}
	object := func(name string) *api.Unstructured {
		return &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}
	}
	ctx, options := context.Background(), registry.WriteOptions{User: "admin"}
	state := func() {
		o, err := r.Get(target("namespaces", "", "test"), api.GetOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		n := o.Decode()
		fmt.Println(n.NestedString("status", "phase"), n.NestedStringSlice("spec", "finalizers"))
	}

	_, _ = r.Create(ctx, target("namespaces", "", ""), object("test"), options)
	state()
	_, gone, _ := r.Delete(ctx, target("namespaces", "", "test"), api.DeleteOptions{}, options)
	fmt.Println("gone:", gone)
	state()
	_, err := r.Create(ctx, target("configmaps", "test", ""), object("late"), options)
	fmt.Println(err)

	finalize := target("namespaces", "", "test")
	finalize.Subresource = "finalize"
	_, _ = r.Patch(ctx, finalize, func(n *api.Unstructured) (*api.Unstructured, error) {
		n.RemoveNested("spec", "finalizers")
		return n, nil
	}, options)
	state()
	// Output:
	// Active [kubernetes]
	// gone: false
	// Terminating [kubernetes]
	// configmaps "late" is forbidden: unable to create new content in namespace test because it is being terminated
	// namespaces "test" not found
}
