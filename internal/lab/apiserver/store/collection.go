package store

import "orrery/restclient/api"

// Collection holds the objects of one resource. It is safe for concurrent use.
type Collection struct {
	store  *Store
	prefix string

	// Guarded by the lock of the store, because writes of all collections have one order.
	objects tree
	bytes   int // the sum of the objects' sizes
	window  window
	trees   []pastTree    // a few past states for the next page of a list, each still within the window
	changed chan struct{} // closed and replaced by every write
	dropped bool
	// labels are the last created object's labels. Objects created in a row often have equal labels
	// and can share the map.
	labels map[string]string
}

// pastTree is the state before the event with the given number. The present has the number of the
// next event.
type pastTree struct {
	number uint64
	tree   tree // immutable
}

// maxTrees is the number of past states kept. They keep no object alive that the window does not
// keep.
const maxTrees = 4

func newCollection(s *Store, prefix string) *Collection {
	return &Collection{
		store: s, prefix: prefix,
		objects: newTree(),
		window:  window{maxEvents: s.window, maxBytes: s.windowBytes, oldest: s.floor},
		changed: make(chan struct{}),
	}
}

// Prefix returns the prefix that the keys would have in etcd.
func (c *Collection) Prefix() string { return c.prefix }

// Get returns the current object with the given key.
func (c *Collection) Get(key Key) (*Object, bool) {
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	return c.objects.get(key)
}

// commitLocked applies an event that carries the next version.
func (c *Collection) commitLocked(e Event) {
	c.store.version = e.Version()
	if e.Previous != nil {
		c.bytes -= e.Previous.size()
	}
	if e.Type == api.WatchDeleted {
		c.objects.delete(e.Object)
	} else {
		c.objects.set(e.Object)
		c.bytes += e.Object.size()
	}
	c.window.append(e)
	c.forgetTreesLocked()
	close(c.changed)
	c.changed = make(chan struct{})
}

// forgetTreesLocked drops the past states that have left the window.
func (c *Collection) forgetTreesLocked() {
	kept := c.trees[:0]
	for _, past := range c.trees {
		if past.number >= c.window.first {
			kept = append(kept, past)
		}
	}
	clear(c.trees[len(kept):])
	c.trees = kept
}

// rememberTreeLocked keeps a past state and drops the one that was kept longest.
func (c *Collection) rememberTreeLocked(number uint64, t tree) {
	if _, found := c.pastTreeLocked(number); found || number < c.window.first || c.dropped {
		return // already there, or too late
	}
	if len(c.trees) == maxTrees {
		c.trees = append(c.trees[:0], c.trees[1:]...)
	}
	c.trees = append(c.trees, pastTree{number, t})
}

// pastTreeLocked returns a past state if it is kept.
func (c *Collection) pastTreeLocked(number uint64) (tree, bool) {
	for _, past := range c.trees {
		if past.number == number {
			return past.tree, true
		}
	}
	return tree{}, false
}

// dropLocked empties the collection for good and ends its watches. Cursors may still read the rest
// of the window.
func (c *Collection) dropLocked() {
	c.dropped = true
	c.objects, c.bytes, c.trees = newTree(), 0, nil
	close(c.changed)
}
