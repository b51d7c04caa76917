package store

import "orrery/restclient/api"

// Collection holds the objects of one resource. It may be used from any goroutine.
type Collection struct {
	store  *Store
	prefix string

	// Guarded by the lock of the store, as the order of writes is one for all collections.
	objects tree
	bytes   int // the sum of the sizes of the objects
	window  window
	trees   []pastTree    // a few states that were asked for, each still within the window
	changed chan struct{} // closed, and replaced, by every write
	dropped bool
	// labels are those of the object that was created last. Who creates many objects often gives all of them the same ones,
	// which then are one map.
	labels map[string]string
}

// pastTree is the state before the event with a number: of the present, before the one to come.
type pastTree struct {
	number uint64
	tree   tree // never written again
}

// maxTrees is how many states are kept for the next page of a list. They keep no object that the window does not keep.
const maxTrees = 4

func newCollection(s *Store, prefix string) *Collection {
	return &Collection{
		store: s, prefix: prefix,
		objects: newTree(),
		window:  window{maxEvents: s.window, maxBytes: s.windowBytes, oldest: s.floor},
		changed: make(chan struct{}),
	}
}

// Prefix returns what the keys in etcd would begin with.
func (c *Collection) Prefix() string { return c.prefix }

// Get returns the current object with a key.
func (c *Collection) Get(key Key) (*Object, bool) {
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	return c.objects.get(key)
}

// commitLocked makes a write of an event that carries the next version.
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

// forgetTreesLocked drops the states that have fallen out of the window.
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

// rememberTreeLocked keeps a state for whoever asks for it next, instead of the one that was kept longest.
func (c *Collection) rememberTreeLocked(number uint64, t tree) {
	if _, found := c.pastTreeLocked(number); found || number < c.window.first || c.dropped {
		return // somebody else has made it meanwhile, or it came too late
	}
	if len(c.trees) == maxTrees {
		c.trees = append(c.trees[:0], c.trees[1:]...)
	}
	c.trees = append(c.trees, pastTree{number, t})
}

// pastTreeLocked returns a state that is at hand.
func (c *Collection) pastTreeLocked(number uint64) (tree, bool) {
	for _, past := range c.trees {
		if past.number == number {
			return past.tree, true
		}
	}
	return tree{}, false
}

// dropLocked empties the collection for good and ends its watches. The window stays: what is in it may still be read by
// cursors that have not.
func (c *Collection) dropLocked() {
	c.dropped = true
	c.objects, c.bytes, c.trees = newTree(), 0, nil
	close(c.changed)
}
