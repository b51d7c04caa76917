package informer

// knownKeys is MetaNamespaceKeyFunc for the objects of a store: the string of an object that is there is not built
// again for each of its events.
type knownKeys[T Object] struct{ known keyKnower }

// keyKnower is a store that can look a key up without the string, such as that of indexer/fast. Others are nil here.
type keyKnower interface {
	KnownKey(namespace, name string) (key string, ok bool)
}

// keyOf may be called from any goroutine.
func (k knownKeys[T]) keyOf(obj T) (string, error) {
	if namespace, name := obj.GetNamespace(), obj.GetName(); k.known != nil && namespace != "" && name != "" {
		if key, ok := k.known.KnownKey(namespace, name); ok {
			return key, nil
		}
	}
	return MetaNamespaceKeyFunc(obj)
}
