package informer

import (
	"fmt"
	"iter"
	"net/http"

	"orrery/indexer"
	"orrery/restclient/api"
)

// LabeledObject is an [Object] that can be selected by labels.
type LabeledObject interface {
	Object
	GetLabels() map[string]string
}

// Lister reads the store of an informer. It asks nothing of the server, sees the past by a moment, and hands out
// objects that are shared: copy one before changing it.
type Lister[T LabeledObject] struct {
	store    indexer.Interface[T]
	resource string // of the error of Get, such as "pods"
}

// NewLister returns a lister of the store of an informer. resource appears in the error of Get.
func NewLister[T LabeledObject](store indexer.Interface[T], resource string) Lister[T] {
	return Lister[T]{store: store, resource: resource}
}

// List returns the objects that the selector picks, in no particular order. The zero Selector picks all.
func (l Lister[T]) List(selector Selector) []T { return selected(values(l.store.All()), selector) }

// ListFunc returns the objects for which match is true, in no particular order. match must not block.
func (l Lister[T]) ListFunc(match func(obj T) bool) []T {
	var out []T
	for _, obj := range l.store.All() {
		if match(obj) {
			out = append(out, obj)
		}
	}
	return out
}

// Get returns the object of that name, for objects of the cluster. If there is none the error is one that
// api.IsNotFound recognises, as if the server had been asked.
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
type NamespaceLister[T LabeledObject] struct {
	lister    Lister[T]
	namespace string
}

// List returns the objects of the namespace that the selector picks, in no particular order. It reads the index
// [NamespaceIndex] if the store has it, and looks at every object otherwise.
func (l NamespaceLister[T]) List(selector Selector) []T {
	if objects, err := l.lister.store.ByIndex(NamespaceIndex, l.namespace); err == nil {
		return selected(func(yield func(T) bool) {
			for _, obj := range objects {
				if !yield(obj) {
					return
				}
			}
		}, selector)
	}
	return l.lister.ListFunc(func(obj T) bool {
		return obj.GetNamespace() == l.namespace && matches(selector, obj)
	})
}

// Get returns the object of that name in the namespace, or an error that api.IsNotFound recognises.
func (l NamespaceLister[T]) Get(name string) (T, error) {
	if l.namespace == "" {
		return l.lister.get(name, name)
	}
	return l.lister.get(l.namespace+"/"+name, name)
}

func selected[T LabeledObject](objects iter.Seq[T], selector Selector) []T {
	var out []T
	for obj := range objects {
		if matches(selector, obj) {
			out = append(out, obj)
		}
	}
	return out
}

// matches spares an Unstructured the copy of its labels when nothing is asked of them.
func matches[T LabeledObject](selector Selector, obj T) bool {
	return selector.Empty() || selector.Matches(obj.GetLabels())
}

func values[K, V any](pairs iter.Seq2[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range pairs {
			if !yield(v) {
				return
			}
		}
	}
}
