package fast

import (
	"slices"
	"strings"
	"sync/atomic"

	"orrery/indexer"
)

// contents is what the store holds. Writes change it with Indexer.mu held; Replace and AddIndexers
// put a new one in its place.
//
//	records: "default/web-1" ──> record ── obj          for GetByKey
//	                               │
//	all: [.., obj, ..] <── home ───┤                     every object
//	                               │
//	"node" ── "n1" ──> bucket [.., obj, ..] <── places   one bucket for each value of an index
//
// A record knows its positions in the lists. So an update with the same index values costs one
// store in each list, and a removal leaves exactly the object's buckets, whatever its index
// functions return then.
type contents[T any] struct {
	records *table[record[T]] // by key
	all     *members[T]
	indexes []*index[T] // sorted by name; this slice never changes
}

// record is everything that the store knows of one key.
type record[T any] struct {
	entry // of the key, in the table of records

	// obj is what GetByKey returns, also in the middle of a write. A reader that has seen the
	// object here and takes a snapshot next waits for the end of the write, and finds it there.
	obj box[T]

	home   int         // position in contents.all
	places []place[T]  // positions in buckets; those of one index in the order of its values
	room   [1]place[T] // most objects are in one bucket, that of their namespace
}

// place is a position in a bucket.
type place[T any] struct {
	bucket *bucket[T]
	pos    int
}

// index is one index of a store: from each value to the objects that have it.
type index[T any] struct {
	name      string               // set once
	indexFunc indexer.IndexFunc[T] // set once

	// buckets are by value. None is empty: with values that come and go, such as the names of nodes
	// or owners, empty ones would accumulate (kubernetes issue 84959).
	buckets map[string]*bucket[T]
}

// bucket holds the objects that share one value of one index.
type bucket[T any] struct {
	members[T]
	index *index[T] // set once
	value string    // set once
}

// members are objects in undefined order, each with its record.
type members[T any] struct {
	objects list[T]
	records list[*record[T]] // of the same length
}

// snapshot is members at one moment.
type snapshot[T any] struct {
	objects view[T]
	records view[*record[T]]
}

func (m *members[T]) snapshot() snapshot[T] {
	return snapshot[T]{m.objects.snapshot(), m.records.snapshot()}
}

func (m *members[T]) insert(obj T, rec *record[T]) (pos int) {
	m.objects.push(obj)
	m.records.push(rec)
	return m.records.n - 1
}

// remove moves the last object to pos and returns its record, whose position the caller must
// update. The record is nil if the object at pos was the last one.
func (m *members[T]) remove(pos int) (moved *record[T]) {
	obj, rec := m.objects.pop(), m.records.pop()
	if pos == m.records.n {
		return nil
	}
	m.objects.set(pos, obj)
	m.records.set(pos, rec)
	return rec
}

// keys returns the keys of a snapshot.
func (s snapshot[T]) keys() []string {
	keys := make([]string, 0, s.records.n)
	for _, chunk := range s.records.chunks {
		for _, rec := range chunk.items {
			keys = append(keys, rec.key)
		}
	}
	return keys
}

// newContents returns empty contents with room for n objects.
func newContents[T any](indexers indexer.Indexers[T], n int) *contents[T] {
	c := &contents[T]{records: newTable(n, func(r *record[T]) *entry { return &r.entry }), all: &members[T]{}}
	for _, name := range indexers.Names() {
		c.indexes = append(c.indexes, newIndex(name, indexers[name]))
	}
	return c
}

func newIndex[T any](name string, indexFunc indexer.IndexFunc[T]) *index[T] {
	return &index[T]{name: name, indexFunc: indexFunc, buckets: map[string]*bucket[T]{}}
}

// with returns contents with the same objects and additional, empty indexes, and the names
// that exist already.
func (c *contents[T]) with(added indexer.Indexers[T]) (next *contents[T], taken []string) {
	next = &contents[T]{records: c.records, all: c.all, indexes: slices.Clone(c.indexes)}
	for _, name := range added.Names() {
		if c.index(name) != nil {
			taken = append(taken, name)
			continue
		}
		next.indexes = append(next.indexes, newIndex(name, added[name]))
	}
	slices.SortFunc(next.indexes, func(a, b *index[T]) int { return strings.Compare(a.name, b.name) })
	return next, taken
}

// fill adds all objects to the named indexes.
func (c *contents[T]) fill(names []string) (errs *indexer.IndexErrors) {
	for _, name := range names {
		ix := c.index(name)
		for rec := range c.records.entries() {
			obj := rec.obj.load()
			values, err := ix.indexFunc.Values(obj)
			if err != nil {
				errs = errs.Add(name, rec.key, err)
			}
			ix.update(rec, values, obj)
		}
	}
	return errs
}

// index returns the index of that name, or nil. There are only a handful.
func (c *contents[T]) index(name string) *index[T] {
	for _, ix := range c.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// indexers returns the index functions as a new map.
func (c *contents[T]) indexers() indexer.Indexers[T] {
	all := indexer.Indexers[T]{}
	for _, ix := range c.indexes {
		all[ix.name] = ix.indexFunc
	}
	return all
}

// sameIndexes reports whether a and b have the same indexes: none is ever removed.
func sameIndexes[T any](a, b *contents[T]) bool { return len(a.indexes) == len(b.indexes) }

// values calls all index functions for obj and appends their results to room, in the order of the
// indexes.
func (c *contents[T]) values(key string, obj T, room [][]string,
	errs *indexer.IndexErrors) ([][]string, *indexer.IndexErrors) {
	for _, ix := range c.indexes {
		values, err := ix.indexFunc.Values(obj)
		if err != nil {
			errs = errs.Add(ix.name, key, err)
		}
		room = append(room, values)
	}
	return room, errs
}

// put stores obj under key and under the values of each index.
func (c *contents[T]) put(key string, obj T, values [][]string) (old T, existed bool) {
	hash := c.records.hash(key)
	rec := find(c.records, hash, key)
	if rec != nil {
		c.all.objects.set(rec.home, obj)
	} else {
		rec = &record[T]{entry: entry{hash: hash, key: key}}
		rec.places = rec.room[:0]
		rec.home = c.all.insert(obj, rec)
	}
	for i, ix := range c.indexes {
		ix.update(rec, values[i], obj)
	}
	if old, existed = rec.obj.swap(obj); !existed {
		c.records.insert(rec)
	}
	return old, existed
}

// remove removes the object of key and reports whether there was one.
func (c *contents[T]) remove(key string) bool {
	rec := find(c.records, c.records.hash(key), key)
	if rec == nil {
		return false
	}
	if moved := c.all.remove(rec.home); moved != nil {
		moved.home = rec.home
	}
	for _, p := range rec.places {
		p.leave()
	}
	c.records.remove(rec)
	return true
}

// update moves obj, the new object of rec, to the buckets of exactly the given values.
func (ix *index[T]) update(rec *record[T], values []string, obj T) {
	if ix.holds(rec, values) {
		for _, p := range rec.places {
			if p.bucket.index == ix {
				p.bucket.objects.set(p.pos, obj)
			}
		}
		return
	}
	rec.places = slices.DeleteFunc(rec.places, func(p place[T]) bool {
		if p.bucket.index != ix {
			return false
		}
		p.leave()
		return true
	})
	for _, value := range values {
		ix.add(rec, value, obj)
	}
}

// holds reports whether rec has exactly the values, in this order. If an index function returns the
// same values in another order, its object leaves and enters its buckets.
func (ix *index[T]) holds(rec *record[T], values []string) bool {
	for i := range rec.places {
		b := rec.places[i].bucket
		if b.index != ix {
			continue
		}
		if len(values) == 0 || values[0] != b.value {
			return false
		}
		values = values[1:]
	}
	return len(values) == 0
}

// add adds the object of rec to the bucket of value. A repeated value counts once.
func (ix *index[T]) add(rec *record[T], value string, obj T) {
	b := ix.buckets[value]
	if b == nil {
		b = &bucket[T]{index: ix, value: value}
		ix.buckets[value] = b
	}
	if rec.placeIn(b) == nil {
		rec.places = append(rec.places, place[T]{bucket: b, pos: b.insert(obj, rec)})
	}
}

// leave removes the object at p from its bucket. The caller must remove p from its record.
func (p place[T]) leave() {
	if moved := p.bucket.remove(p.pos); moved != nil {
		moved.placeIn(p.bucket).pos = p.pos
	}
	if p.bucket.records.n == 0 {
		delete(p.bucket.index.buckets, p.bucket.value)
	}
}

// placeIn returns the place of rec in b, or nil.
func (rec *record[T]) placeIn(b *bucket[T]) *place[T] {
	for i := range rec.places {
		if rec.places[i].bucket == b {
			return &rec.places[i]
		}
	}
	return nil
}

// box is an atomic box: the writer stores an object that any goroutine loads without a lock.
//
// It is an atomic.Value rather than an atomic.Pointer[T]: objects are nearly always pointers, and
// an interface stores a pointer, or a struct of one pointer, directly. So a write allocates nothing
// and a read saves an indirection. The struct is needed because an atomic.Value must always store
// the same type, even if T is an interface.
type box[T any] struct{ value atomic.Value } // of boxed[T]

type boxed[T any] struct{ obj T }

// load returns the object. The box must not be empty.
func (b *box[T]) load() T { return b.value.Load().(boxed[T]).obj }

// swap stores obj and returns the previous object, if any.
func (b *box[T]) swap(obj T) (old T, existed bool) {
	before, existed := b.value.Swap(boxed[T]{obj}).(boxed[T])
	return before.obj, existed
}
