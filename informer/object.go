package informer

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"strings"
	"sync/atomic"

	"orrery/restclient/api"
	"orrery/wait"
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

// TransformFunc changes an object before it enters the queue, the store and the handlers: it is the
// place to drop unused fields. It owns the object and may change it in place or return another one;
// the key must stay the same.
//
// It runs once for every incoming object, on the goroutine of the reflector. With an error, or with
// nil, it refuses the object, which is reported as a [*ProcessError]. The store then keeps the old
// state, also if the object is one of a list. The deletion of a refused object is delivered with
// FinalStateUnknown: its key suffices.
type TransformFunc[T any] func(obj T) (T, error)

// StripManagedFields returns a transform that drops managed fields, which are often the greater
// part of an object and which hardly any controller reads. head returns the metadata of an object:
//
//	Transform: informer.StripManagedFields(func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta })
//
// Do not use it if objects from the store are written back with an update: the update removes what
// is not sent.
func StripManagedFields[T any](head func(obj T) *api.ObjectMeta) TransformFunc[T] {
	return func(obj T) (T, error) {
		head(obj).ManagedFields = api.ManagedFields{}
		return obj, nil
	}
}

// errNothing is the refusal of a transform that returns nil.
var errNothing = errors.New("the transform returned no object")

// guardedTransform turns a recovered panic into an error, so that it costs one event and not the
// reflector, and a nil object as well.
func guardedTransform[T Object](transform TransformFunc[T]) TransformFunc[T] {
	if transform == nil {
		return nil
	}
	return func(obj T) (out T, err error) {
		defer wait.HandleCrash(func(_ context.Context, p *wait.Panic) { err = p })
		if out, err = transform(obj); err == nil && reflect.ValueOf(&out).Elem().IsZero() {
			err = errNothing
		}
		return out, err
	}
}
