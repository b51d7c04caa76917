package store

import (
	"sort"

	"github.com/tidwall/btree"
)

// tree holds the objects of a collection in the order of their keys. A copy shares all nodes with its original, and each
// of the two copies a node the first time it writes to it. So a copy that nobody writes to any more may be read by
// anybody without a lock.
//
// Get and Ascend need an object to compare with. It costs an allocation, and keeping the keys beside the pointers
// instead would cost five times the memory.
type tree struct {
	objects *btree.BTreeG[*Object]
}

func newTree() tree {
	less := func(a, b *Object) bool { return a.Key.compare(b.Key) < 0 }
	return tree{objects: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

// copy needs the lock under which the tree is written: it marks the nodes of both as shared.
func (t tree) copy() tree { return tree{objects: t.objects.Copy()} }

func (t tree) len() int { return t.objects.Len() }

func (t tree) get(key Key) (*Object, bool) { return t.objects.Get(&Object{Key: key}) }

func (t tree) set(o *Object) { t.objects.Set(o) }

func (t tree) delete(o *Object) { t.objects.Delete(o) }

// undo takes an event back.
func (t tree) undo(e Event) {
	if e.Previous == nil {
		t.delete(e.Object)
		return
	}
	t.set(e.Previous)
}

// ascend yields the objects of a namespace ("" for all) that come after a key (the zero Key for all).
func (t tree) ascend(namespace string, after Key, yield func(*Object) bool) {
	within := func(o *Object) bool {
		if namespace != "" && o.Key.Namespace != namespace {
			return false
		}
		return o.Key == after || yield(o) // the first one may be the one to come after
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

// count returns how many objects ascend would yield. It does not go through them: the tree knows how many objects each of
// its nodes holds.
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

// search returns the position, from a position on, of the first object of which the question is true. For all after it the
// question must be true as well.
func (t tree) search(from int, question func(Key) bool) int {
	return from + sort.Search(t.len()-from, func(i int) bool {
		o, _ := t.objects.GetAt(from + i)
		return question(o.Key)
	})
}
