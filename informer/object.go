package informer

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// Object is what an informer has to know about the things that it holds: where they live and in which
// version. All types of restclient/api satisfy it through pointers (*api.Namespace, *api.Unstructured, ...).
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// MetaNamespaceKeyFunc returns the key of an object: "namespace/name", or "name" for an object of the cluster.
// An object without a name has no key, which is an error; the queue and the store wrap it in a KeyError of theirs.
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

// SplitMetaNamespaceKey is the way back: it takes a key apart. A key with more than one slash is an
// error.
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

// NamespaceIndex is the name under which [MetaNamespaceIndexFunc] is registered by convention. A [Lister]
// reads one namespace through the index of this name if there is one.
const NamespaceIndex = "namespace"

// MetaNamespaceIndexFunc is the index function "by namespace". Do not change the slice that it returns: the same one
// is returned for other objects of the namespace.
func MetaNamespaceIndexFunc[T Object](obj T) ([]string, error) {
	return namespaceValues(obj.GetNamespace()), nil
}

// keyKnower is a store that can look a key up without the string, such as that of indexer/fast.
type keyKnower interface {
	KnownKey(namespace, name string) (key string, ok bool)
}

// keyFuncOf is MetaNamespaceKeyFunc for the objects of a store. If the store can say which keys it has, the string of an
// object that is there is not built again for each of its events.
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

// recentNamespaces remembers slices of one namespace each, so that the index by namespace does not allocate one for every
// event. It is a cache: two namespaces that share a place take turns in it. What it holds never changes.
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
