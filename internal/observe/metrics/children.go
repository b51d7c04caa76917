package metrics

import "sync"

// children are the values of one metric, found by a key that is no string. The library finds them by the text of their
// labels, for which each call allocates; that is too much for what happens with each request.
type children[K comparable, M any] struct {
	make func(K) M

	mu    sync.RWMutex
	known map[K]M // guarded by mu
}

func newChildren[K comparable, M any](make func(K) M) *children[K, M] {
	return &children[K, M]{make: make, known: map[K]M{}}
}

func (c *children[K, M]) of(key K) M {
	c.mu.RLock()
	child, ok := c.known[key]
	c.mu.RUnlock()
	if ok {
		return child
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if child, ok = c.known[key]; !ok {
		child = c.make(key)
		c.known[key] = child
	}
	return child
}
