package informer

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// Object is the constraint for objects of an informer: they have a key and a resource version. All
// types of restclient/api satisfy it through pointers (*api.Namespace, *api.Unstructured, ...).
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// MetaNamespaceKeyFunc returns the key of an object: "namespace/name", or "name" if it is
// cluster-scoped. An object without a name has no key, which is an error; the queue and the store
// wrap it in their KeyError.
func MetaNamespaceKeyFunc[T Object](obj T) (string, error) {
	name, namespace := obj.GetName(), obj.GetNamespace()
	if name == "" {
		return "", fmt.Errorf("an object in namespace %q has no name, and so no key", namespace)
	}
	if namespace == "" {
		return name, nil
	}
	return namespace + "/" + name, nil
}

// SplitMetaNamespaceKey splits a key. A key with more than one slash is an error.
func SplitMetaNamespaceKey(key string) (namespace, name string, err error) {
	before, after, found := strings.Cut(key, "/")
	if !found {
		return "", before, nil
	}
	if strings.Contains(after, "/") {
		return "", "", fmt.Errorf("%q is not a key: want name or namespace/name", key)
	}
	return before, after, nil
}

// NamespaceIndex is the conventional name of the index with [MetaNamespaceIndexFunc]. A [Lister]
// uses it, if present, to list one namespace.
const NamespaceIndex = "namespace"

// MetaNamespaceIndexFunc is the index function "by namespace". Do not change the returned slice,
// which is shared.
func MetaNamespaceIndexFunc[T Object](obj T) ([]string, error) {
	return namespaceValues(obj.GetNamespace()), nil
}

// keyKnower is a store that looks a key up without a string, such as that of indexer/fast.
type keyKnower interface {
	KnownKey(namespace, name string) (key string, ok bool)
}

// keyFuncOf returns MetaNamespaceKeyFunc for the objects of a store. If the store is a keyKnower,
// an event of a known object allocates no key.
func keyFuncOf[T Object](store Indexer[T]) func(obj T) (string, error) {
	knower, ok := store.(keyKnower)
	if !ok {
		return MetaNamespaceKeyFunc[T]
	}
	return func(obj T) (string, error) {
		if namespace, name := obj.GetNamespace(), obj.GetName(); namespace != "" && name != "" {
			if key, ok := knower.KnownKey(namespace, name); ok {
				return key, nil
			}
		}
		return MetaNamespaceKeyFunc(obj)
	}
}

// recentNamespaces caches one-element slices, so that the index by namespace does not allocate one
// for every event. Cached slices never change.
var (
	recentNamespaces [256]atomic.Pointer[[1]string]
	namespaceSeed    = maphash.MakeSeed()
)

// namespaceValues returns []string{namespace}. Any goroutine may call it.
func namespaceValues(namespace string) []string {
	place := &recentNamespaces[maphash.String(namespaceSeed, namespace)%uint64(len(recentNamespaces))]
	if known := place.Load(); known != nil && known[0] == namespace {
		return known[:]
	}
	values := &[1]string{namespace}
	place.Store(values)
	return values[:]
}
