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

// Client reads and writes the objects of one namespace. *restclient.Resource[T] satisfies it.
type Client[T any] interface {
	Get(ctx context.Context, name string, opts api.GetOptions) (T, error)
	Create(ctx context.Context, object T, opts api.UpdateOptions) (T, error)
	Patch(ctx context.Context, name string, kind api.PatchType, patch []byte, opts api.UpdateOptions,
		subresources ...string) (T, error)
	Delete(ctx context.Context, name string, opts api.DeleteOptions) error
}

// Collection gives a controller access to one type of objects: an informer's store to read from,
// and a client to write with.
type Collection[T Owned] struct {
	// Informer is run by its owner. Controllers add handlers and read its store.
	Informer *informer.SharedIndexInformer[T]
	// Client returns the client of a namespace.
	Client func(namespace string) Client[T]
}

// NewCollection returns a collection of an informer and a resource on the server. It adds an index
// by namespace to the store if there is none.
func NewCollection[T Owned](shared *informer.SharedIndexInformer[T], resource *restclient.Resource[T]) Collection[T] {
	if _, ok := shared.GetIndexer().GetIndexers()[informer.NamespaceIndex]; !ok {
		// This fails only if the informer has stopped. Lookups by namespace work without the index,
		// more slowly.
		_ = shared.AddIndexers(indexer.Indexers[T]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[T]})
	}
	return Collection[T]{shared, func(namespace string) Client[T] { return resource.InNamespace(namespace) }}
}

// In reads one namespace of the store.
func (c Collection[T]) In(namespace string) informer.NamespaceLister[T] {
	return informer.NewLister(c.Informer.GetIndexer(), c.Informer.Name()).ByNamespace(namespace)
}

// ByKey returns the object with a key of a queue, or an error that api.IsNotFound recognises.
func (c Collection[T]) ByKey(key string) (T, error) {
	namespace, name, _ := strings.Cut(key, "/")
	return c.In(namespace).Get(name)
}

// Keys returns the keys of all objects in the store.
func (c Collection[T]) Keys() []string { return c.Informer.GetIndexer().ListKeys() }

// Change is a change of an object. Fields that are nil stay as they are.
type Change struct {
	Annotations map[string]string
	Spec        map[string]int
	Status      any
}

// Apply changes an object; a change of the status needs the subresource "status". The server
// answers with a conflict if the object has changed since it was read.
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

// Patch encodes a patch as JSON and sends it.
func Patch[T any](ctx context.Context, client Client[T], name string, kind api.PatchType, patch any,
	subresources ...string) (T, error) {
	data, err := json.Marshal(patch)
	if err != nil {
		var none T
		return none, err
	}
	return client.Patch(ctx, name, kind, data, api.UpdateOptions{}, subresources...)
}

// DeleteIncarnation deletes an object by its UID, so that a new object of the same name is left
// alone.
func DeleteIncarnation[T any](ctx context.Context, client Client[T], meta *api.ObjectMeta) error {
	return client.Delete(ctx, meta.Name, api.DeleteOptions{Preconditions: &api.Preconditions{UID: &meta.UID}})
}
