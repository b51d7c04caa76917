package informer

import (
	"fmt"
	"strings"
)

// Object is what an informer has to know about the things that it holds: where they live and in which
// version. All types of restclient/api satisfy it through pointers (*api.Namespace, *api.Unstructured, ...).
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// MetaNamespaceKeyFunc returns the key of an object: "namespace/name", or "name" for an object of the cluster.
// An object without a name has no key and gives a [*KeyError].
func MetaNamespaceKeyFunc[T Object](obj T) (string, error) {
	name, namespace := obj.GetName(), obj.GetNamespace()
	if name == "" {
		return "", &KeyError{Namespace: namespace}
	}
	if namespace == "" {
		return name, nil
	}
	return namespace + "/" + name, nil
}

// SplitMetaNamespaceKey is the way back: it takes a key apart. A key with more than one slash gives a
// [*KeyError].
func SplitMetaNamespaceKey(key string) (namespace, name string, err error) {
	before, after, found := strings.Cut(key, "/")
	if !found {
		return "", before, nil
	}
	if strings.Contains(after, "/") {
		return "", "", &KeyError{Key: key}
	}
	return before, after, nil
}

// NamespaceIndex is the name under which [MetaNamespaceIndexFunc] is registered by convention. A [Lister]
// reads one namespace through the index of this name if there is one.
const NamespaceIndex = "namespace"

// MetaNamespaceIndexFunc is the index function "by namespace". Nobody may change the slice that it returns: the same one
// is returned for other objects of the namespace.
func MetaNamespaceIndexFunc[T Object](obj T) ([]string, error) {
	return namespaceValues(obj.GetNamespace()), nil
}

// KeyError says that an object has no key (Key is empty) or that a key cannot be taken apart.
type KeyError struct {
	Key       string // the key that is not one
	Namespace string // of the object that has no name
}

func (e *KeyError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("an object in namespace %q has no name, and so no key", e.Namespace)
	}
	return fmt.Sprintf("%q is not a key: want name or namespace/name", e.Key)
}
