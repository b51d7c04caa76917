package store_test

import (
	"context"
	"errors"
	"fmt"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// A list and a watch from its version, like an informer.
func Example() {
	s := store.New(store.Config{Window: 100})
	configMaps := s.Collection("/registry/configmaps")
	put := func(name, value string) store.Draft {
		return store.Draft{Object: &api.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": "default", "name": name},
			"data":     map[string]any{"k": value},
		}}}
	}
	created, _ := configMaps.Create(put("a", "1"), nil)
	fmt.Println(string(created.AppendJSON(nil, "v1", "ConfigMap")))

	view, _ := configMaps.View(0)
	fmt.Println("listed", view.Len("default"), "at", view.Version())
	cursor, _ := configMaps.Watch(view.Version())

	changed, _, _ := configMaps.Replace(created, put("a", "2"), nil)
	if _, swapped, _ := configMaps.Replace(created, put("a", "3"), nil); !swapped {
		fmt.Println("another writer was faster")
	}
	configMaps.Delete(changed)

	events, _ := cursor.Next(context.Background())
	for _, e := range events {
		fmt.Println(e.Type, e.Object.Key, e.Version(), e.Object.Decode().NestedString("data", "k"))
	}
	earlier, _ := configMaps.View(changed.Version)
	fmt.Println("at", earlier.Version(), "there was", earlier.Len(""))

	s.Compact()
	_, err := configMaps.Watch(view.Version())
	if expired, ok := errors.AsType[*store.ExpiredError](err); ok {
		fmt.Println("list again: history begins at", expired.Oldest)
	}
	// Output:
	// {"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"2","name":"a","namespace":"default"},"data":{"k":"1"}}
	// listed 1 at 2
	// another writer was faster
	// MODIFIED default/a 3 2
	// DELETED default/a 4 2
	// at 3 there was 1
	// list again: history begins at 4
}

// A guard ties a write to the state of another collection, atomically.
func ExampleGuard() {
	s := store.New(store.Config{})
	inNamespace := func(r store.Reader) error {
		if namespace, ok := r.Get("/registry/namespaces", store.Key{Name: "default"}); !ok || namespace.Deleting {
			return errors.New("the namespace is not there")
		}
		return nil
	}
	_, err := s.Collection("/registry/secrets").Create(store.Draft{Object: &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": "a"},
	}}}, inNamespace)
	fmt.Println(err)
	// Output: the namespace is not there
}
