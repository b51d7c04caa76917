package informer

import (
	"hash/maphash"
	"sync/atomic"
)

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
