package store

import (
	"sort"

	"github.com/tidwall/btree"

	"orrery/restclient/api"
)

// Collection holds the objects of one resource. It is safe for concurrent use.
type Collection struct {
	store  *Store
	prefix string

	// Guarded by the lock of the store, because writes of all collections have one order.
	objects tree
	window  window
	changed chan struct{} // closed and replaced by every write
	dropped bool
}

func newCollection(s *Store, prefix string) *Collection {
	return &Collection{
		store: s, prefix: prefix,
		objects: newTree(),
		window:  window{maxEvents: s.window, oldest: s.floor},
		changed: make(chan struct{}),
	}
}

// Get returns the current object with the given key.
func (c *Collection) Get(key Key) (*Object, bool) {
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	return c.objects.get(key)
}

// commitLocked applies an event that carries the next version.
func (c *Collection) commitLocked(e Event) {
	c.store.version = e.Version()
	if e.Type == api.WatchDeleted {
		c.objects.delete(e.Object)
	} else {
		c.objects.set(e.Object)
	}
	c.window.append(e)
	close(c.changed)
	c.changed = make(chan struct{})
}

// dropLocked empties the collection for good and ends its watches. Cursors may still read the rest
// of the window.
func (c *Collection) dropLocked() {
	c.dropped = true
	c.objects = newTree()
	close(c.changed)
}

// tree holds the objects of a collection, ordered by key. A copy shares all nodes with its
// original, and each copies a node when it first writes to it. A copy that is no longer written may
// be read without a lock.
//
// get and ascend allocate an object to compare with. Keeping the keys next to the pointers would
// avoid that and take five times the memory.
type tree struct {
	objects *btree.BTreeG[*Object]
}

func newTree() tree {
	less := func(a, b *Object) bool { return a.Key.compare(b.Key) < 0 }
	return tree{objects: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

// copy must be called with the lock that guards writes to t: it marks the nodes of both trees as
// shared.
func (t tree) copy() tree { return tree{objects: t.objects.Copy()} }

func (t tree) len() int { return t.objects.Len() }

func (t tree) get(key Key) (*Object, bool) { return t.objects.Get(&Object{Key: key}) }

func (t tree) set(o *Object) { t.objects.Set(o) }

func (t tree) delete(o *Object) { t.objects.Delete(o) }

// undo reverts an event.
func (t tree) undo(e Event) {
	if e.Previous == nil {
		t.delete(e.Object)
		return
	}
	t.set(e.Previous)
}

// ascend yields the objects of a namespace ("" for all) after the given key (the zero Key for all).
func (t tree) ascend(namespace string, after Key, yield func(*Object) bool) {
	within := func(o *Object) bool {
		if namespace != "" && o.Key.Namespace != namespace {
			return false
		}
		return o.Key == after || yield(o) // the tree may start with after itself
	}
	start := Key{Namespace: namespace}
	switch {
	case after != (Key{}) && (namespace == "" || after.compare(start) > 0):
		t.objects.Ascend(&Object{Key: after}, within)
	case namespace != "":
		t.objects.Ascend(&Object{Key: start}, within)
	default:
		t.objects.Scan(within)
	}
}

// count returns how many objects ascend would yield, in logarithmic time: each node knows the size
// of its subtree.
func (t tree) count(namespace string, after Key) int {
	begin := 0
	if after != (Key{}) {
		begin = t.search(0, func(key Key) bool { return key.compare(after) > 0 })
	}
	if namespace == "" {
		return t.len() - begin
	}
	start := Key{Namespace: namespace}
	first := t.search(0, func(key Key) bool { return key.compare(start) >= 0 })
	end := t.search(first, func(key Key) bool { return key.Namespace != namespace })
	return max(0, end-max(begin, first))
}

// search returns the position, starting at from, of the first object for which question is true. It
// must be true for all later objects.
func (t tree) search(from int, question func(Key) bool) int {
	return from + sort.Search(t.len()-from, func(i int) bool {
		o, _ := t.objects.GetAt(from + i)
		return question(o.Key)
	})
}
