package informer

import (
	"fmt"
	"net/http"
	"slices"

	"orrery/restclient/api"
)

// Lister reads the store of an informer. It sends no requests, may be slightly behind the server,
// and returns shared objects: copy one before changing it.
type Lister[T Object] struct {
	store    Indexer[T]
	resource string // for the error of Get, such as "pods"
}

// NewLister returns a lister of the store of an informer. resource appears in the error of Get.
func NewLister[T Object](store Indexer[T], resource string) Lister[T] {
	return Lister[T]{store: store, resource: resource}
}

// List returns all objects, in no particular order.
func (l Lister[T]) List() []T { return l.store.List() }

// ListFunc returns the objects for which match is true, in no particular order.
func (l Lister[T]) ListFunc(match func(obj T) bool) []T {
	return slices.DeleteFunc(l.store.List(), func(obj T) bool { return !match(obj) })
}

// Get returns the cluster-scoped object of that name, or an error for which api.IsNotFound is true,
// like the server's.
func (l Lister[T]) Get(name string) (T, error) { return l.get(name, name) }

func (l Lister[T]) get(key, name string) (T, error) {
	obj, found := l.store.GetByKey(key)
	if !found {
		return obj, &api.StatusError{Status: api.Status{
			Status:  "Failure",
			Reason:  api.ReasonNotFound,
			Code:    http.StatusNotFound,
			Message: fmt.Sprintf("%s %q not found", l.resource, name),
			Details: &api.StatusDetails{Name: name, Kind: l.resource},
		}}
	}
	return obj, nil
}

// ByNamespace returns the lister of one namespace.
func (l Lister[T]) ByNamespace(namespace string) NamespaceLister[T] {
	return NamespaceLister[T]{lister: l, namespace: namespace}
}

// NamespaceLister is a [Lister] of the objects of one namespace.
type NamespaceLister[T Object] struct {
	lister    Lister[T]
	namespace string
}

// List returns the objects of the namespace, in no particular order. It reads the index
// [NamespaceIndex] if the store has it, otherwise it filters all objects.
func (l NamespaceLister[T]) List() []T {
	if objects, err := l.lister.store.ByIndex(NamespaceIndex, l.namespace); err == nil {
		return objects
	}
	return l.lister.ListFunc(func(obj T) bool { return obj.GetNamespace() == l.namespace })
}

// Get returns the object of that name in the namespace, or an error for which api.IsNotFound is
// true.
func (l NamespaceLister[T]) Get(name string) (T, error) {
	if l.namespace == "" {
		return l.lister.get(name, name)
	}
	return l.lister.get(l.namespace+"/"+name, name)
}
