package events

// lru is a map of bounded size that evicts the least recently used entry. It is not safe for
// concurrent use.
type lru[K comparable, V any] struct {
	limit   int
	entries map[K]*entry[K, V]
	// head is the sentinel of a ring: next is the most recently used entry, previous the least
	// recently used.
	head entry[K, V]
}

type entry[K comparable, V any] struct {
	key            K
	value          V
	previous, next *entry[K, V]
}

func newLRU[K comparable, V any](limit int) *lru[K, V] {
	c := &lru[K, V]{limit: limit, entries: map[K]*entry[K, V]{}}
	c.head.previous, c.head.next = &c.head, &c.head
	return c
}

// at returns a pointer to the value of the key and marks it as used. A new value is zero.
func (c *lru[K, V]) at(key K) *V {
	e := c.entries[key]
	switch {
	case e != nil:
		e.unlink()
	case len(c.entries) < c.limit:
		e = &entry[K, V]{key: key}
	default:
		e = c.head.previous
		e.unlink()
		delete(c.entries, e.key)
		*e = entry[K, V]{key: key}
	}
	c.entries[key] = e
	e.previous, e.next = &c.head, c.head.next
	e.previous.next, e.next.previous = e, e
	return &e.value
}

func (e *entry[K, V]) unlink() {
	e.previous.next, e.next.previous = e.next, e.previous
}
