package informer

import "orrery/indexer"

// knownKeys is MetaNamespaceKeyFunc for the objects of a store: the string of an object that is there is not built
// again for each of its events.
type knownKeys[T Object] struct{ store *indexer.Indexer[T] }

// longKey is the length of keys up to which this works. Longer ones are built.
const longKey = 128

// keyOf may be called from any goroutine.
func (k knownKeys[T]) keyOf(obj T) (string, error) {
	namespace, name := obj.GetNamespace(), obj.GetName()
	if namespace == "" || name == "" || len(namespace)+1+len(name) > longKey {
		return MetaNamespaceKeyFunc(obj)
	}
	var room [longKey]byte
	key := append(append(append(room[:0], namespace...), '/'), name...)
	if known, ok := k.store.KnownKey(key); ok {
		return known, nil
	}
	return string(key), nil
}
