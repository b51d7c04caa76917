package indexer

import (
	"hash/maphash"
	"iter"
	"sync/atomic"
)

// table is a hash table from strings to entries that one writer changes while
// any number of readers look things up without a lock.
//
// It is open addressing with linear probing over an array of atomic pointers.
// Two rules make reading safe at any moment:
//
//   - an entry never moves within an array. A removed one leaves a tombstone,
//     so that a reader in the middle of a probe cannot miss what comes after;
//   - growing builds a new array and publishes it whole. A reader that still
//     holds the old one sees the table as it was when it began.
//
// Invariant: at most half of an array is in use, entries and tombstones
// together. So every probe ends at an empty slot.
type table[E any] struct {
	seed maphash.Seed       // set once
	id   func(*E) *identity // set once; the identity within an entry
	gone *E                 // set once; the tombstone

	live  atomic.Int64 // entries, for anybody
	slots atomic.Pointer[slots[E]]

	used int // writer only: entries and tombstones in the current array
}

// identity is the part of an entry that the table needs. It never changes once
// the entry is in the table.
type identity struct {
	hash uint64
	key  string
	// head are the first bytes of the key, filled up with zeros. Comparing them
	// here spares a lookup the cache miss that following key would be.
	head [keyHead]byte
}

const keyHead = 40

func (id *identity) is(other *identity) bool {
	return id.hash == other.hash && id.head == other.head && len(id.key) == len(other.key) &&
		(len(id.key) <= keyHead || id.key[keyHead:] == other.key[keyHead:])
}

// slots is the array. Its length is a power of two.
type slots[E any] []atomic.Pointer[E]

const minSlots = 8

// newTable returns a table that takes n entries without growing. id returns
// the identity within an entry.
func newTable[E any](n int, id func(*E) *identity) *table[E] {
	t := &table[E]{seed: maphash.MakeSeed(), id: id, gone: new(E)}
	t.slots.Store(newSlots[E](n))
	return t
}

func newSlots[E any](n int) *slots[E] {
	size := minSlots
	for size < 2*n {
		size *= 2
	}
	s := make(slots[E], size)
	return &s
}

// identify returns the identity for key, for find and for a new entry.
func (t *table[E]) identify(key string) identity {
	id := identity{key: key, hash: maphash.String(t.seed, key)}
	copy(id.head[:], key)
	return id
}

// find returns the entry of that identity, or nil. Any goroutine may call it.
func (t *table[E]) find(id *identity) *E {
	s := *t.slots.Load()
	mask := uint64(len(s) - 1)
	for i := id.hash & mask; ; i = (i + 1) & mask {
		e := s[i].Load()
		if e == nil {
			return nil
		}
		if t.id(e).is(id) && e != t.gone {
			return e
		}
	}
}

// len is the number of entries. Any goroutine may call it.
func (t *table[E]) len() int { return int(t.live.Load()) }

// insert adds an entry whose key is not in the table. Writer only.
func (t *table[E]) insert(e *E) {
	if 2*(t.used+1) > len(*t.slots.Load()) {
		t.rebuild(t.len() + 1)
	}
	s := *t.slots.Load()
	mask := uint64(len(s) - 1)
	i := t.id(e).hash & mask
	for {
		old := s[i].Load()
		if old == nil {
			t.used++
			break
		}
		if old == t.gone {
			break
		}
		i = (i + 1) & mask
	}
	s[i].Store(e)
	t.live.Add(1)
}

// remove takes out an entry that is in the table. Writer only.
func (t *table[E]) remove(e *E) {
	s := *t.slots.Load()
	mask := uint64(len(s) - 1)
	i := t.id(e).hash & mask
	for s[i].Load() != e {
		i = (i + 1) & mask
	}
	s[i].Store(t.gone)
	t.live.Add(-1)
	// A table that has shrunk a lot gives its memory back.
	if live := t.len(); len(s) > minSlots && 8*live < len(s) {
		t.rebuild(live)
	}
}

// rebuild moves the entries to a new array with room for n, without the
// tombstones. Entries themselves are shared between the arrays, so a reader
// with the old one still sees their latest values.
func (t *table[E]) rebuild(n int) {
	// With half as much again to spare the next rebuild is at least n/2
	// insertions away, however many of them follow a removal.
	next := newSlots[E](n + n/2)
	mask := uint64(len(*next) - 1)
	t.used = 0
	for e := range t.entries() {
		i := t.id(e).hash & mask
		for (*next)[i].Load() != nil {
			i = (i + 1) & mask
		}
		(*next)[i].Store(e)
		t.used++
	}
	t.slots.Store(next)
}

// entries yields all entries, in no order. Writer only.
func (t *table[E]) entries() iter.Seq[*E] {
	return func(yield func(*E) bool) {
		s := *t.slots.Load()
		for i := range s {
			if e := s[i].Load(); e != nil && e != t.gone && !yield(e) {
				return
			}
		}
	}
}
