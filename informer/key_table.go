package informer

import "sync"

// keyTable remembers the keys of the objects in the store, so that an event of a known object does not build the
// string "namespace/name" again, once for the queue and once for the store. It holds exactly the objects with a
// namespace that are in the store: only the loop that writes the store adds and removes.
type keyTable[T Object] struct {
	mu   sync.RWMutex // guards keys
	keys map[keyParts]string
}

type keyParts struct{ namespace, name string }

// keyOf is MetaNamespaceKeyFunc by way of the table. Any goroutine may call it.
func (t *keyTable[T]) keyOf(obj T) (string, error) {
	namespace := obj.GetNamespace()
	if namespace == "" {
		return MetaNamespaceKeyFunc(obj) // which is the name itself
	}
	t.mu.RLock()
	key, known := t.keys[keyParts{namespace, obj.GetName()}]
	t.mu.RUnlock()
	if known {
		return key, nil
	}
	return MetaNamespaceKeyFunc(obj)
}

// remember is told of an object that was added to the store.
func (t *keyTable[T]) remember(key string, obj T) {
	if namespace := obj.GetNamespace(); namespace != "" {
		t.mu.Lock()
		t.keys[keyParts{namespace, obj.GetName()}] = key
		t.mu.Unlock()
	}
}

// forget is told of an object that was deleted from the store.
func (t *keyTable[T]) forget(obj T) {
	if namespace := obj.GetNamespace(); namespace != "" {
		t.mu.Lock()
		delete(t.keys, keyParts{namespace, obj.GetName()})
		t.mu.Unlock()
	}
}
