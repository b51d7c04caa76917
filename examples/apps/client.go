package apps

import (
	"context"
	"encoding/json"
	"strings"

	"orrery/indexer"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
)

// Client is what the controllers do to the objects of one namespace. *restclient.Resource[T] satisfies it.
type Client[T any] interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (T, error)
	Create(ctx context.Context, object T, opts api.UpdateOptions) (T, error)
	Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions, subresources ...string) (T, error)
	Delete(ctx context.Context, name string, opts api.DeleteOptions) error
}

// Collection is what a controller has of one type of objects: the store of an informer, to read, and a client, to write.
type Collection[T Owned] struct {
	// Informer is run by its owner. Controllers add handlers and read its store.
	Informer *informer.SharedIndexInformer[T]
	// Client returns the client of a namespace.
	Client func(namespace string) Client[T]
}

// NewCollection returns the collection of an informer and a resource on the server. The store gets an index by namespace if it
// has none.
func NewCollection[T Owned](shared *informer.SharedIndexInformer[T], resource *restclient.Resource[T]) Collection[T] {
	if _, ok := shared.GetIndexer().GetIndexers()[informer.NamespaceIndex]; !ok {
		// Without the index, which fails only if the informer has stopped, a namespace is found all the same.
		_ = shared.AddIndexers(indexer.Indexers[T]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[T]})
	}
	return Collection[T]{shared, func(namespace string) Client[T] { return resource.InNamespace(namespace) }}
}

// Lister reads the store.
func (c Collection[T]) Lister() informer.Lister[T] {
	return informer.NewLister(c.Informer.GetIndexer(), c.Informer.Name())
}

// In reads one namespace of the store.
func (c Collection[T]) In(namespace string) informer.NamespaceLister[T] {
	return c.Lister().ByNamespace(namespace)
}

// ByKey returns the object with a key of a queue, or an error that api.IsNotFound recognises.
func (c Collection[T]) ByKey(key string) (T, error) {
	namespace, name, _ := strings.Cut(key, "/")
	return c.In(namespace).Get(name)
}

// Keys returns the keys of all objects in the store.
func (c Collection[T]) Keys() []string { return c.Informer.GetIndexer().ListKeys() }

// Change is what a controller changes in an object. What is nil stays as it is.
type Change struct {
	Annotations map[string]string
	Spec        map[string]int
	Status      any
}

// Apply changes an object; a status needs the subresource "status". The server refuses it with a conflict if the object is
// not as it was seen any more.
func Apply[T Owned](ctx context.Context, client Client[T], seen T, change Change, subresources ...string) (T, error) {
	patch := struct {
		Metadata struct {
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations,omitempty"`
		} `json:"metadata"`
		Spec   map[string]int `json:"spec,omitempty"`
		Status any            `json:"status,omitempty"`
	}{Spec: change.Spec, Status: change.Status}
	patch.Metadata.ResourceVersion, patch.Metadata.Annotations = seen.GetResourceVersion(), change.Annotations
	return Patch(ctx, client, seen.GetName(), api.MergePatchType, patch, subresources...)
}

// Patch sends a patch that is written as a value.
func Patch[T any](ctx context.Context, client Client[T], name string, kind api.PatchType, patch any, subresources ...string) (T, error) {
	data, err := json.Marshal(patch)
	if err != nil {
		var none T
		return none, err
	}
	return client.Patch(ctx, name, kind, data, api.UpdateOptions{}, subresources...)
}

// DeleteIncarnation deletes an object if it still is the one that was seen, and not a new one of the same name.
func DeleteIncarnation[T any](ctx context.Context, client Client[T], meta *api.ObjectMeta) error {
	return client.Delete(ctx, meta.Name, api.DeleteOptions{Preconditions: &api.Preconditions{UID: &meta.UID}})
}
