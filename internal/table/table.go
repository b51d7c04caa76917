// Package table has two containers of the fast gears: a hash table whose entries never move, and a
// ring buffer. In a [Table], Obtain finds or adds a key in one search. Each entry has a number, its
// reference, by which other structures refer to it: the order of a queue, a heap of delays. Package
// queue/fast stores its records in the entries; deltafifo/fast, whose records outlive their place
// in the queue, stores pointers. A [Ring] is a FIFO queue.
//
// The textbook forms use a Go map and a slice instead. The table is written by hand because the
// queue needs entries with stable addresses, small references, and room for millions of keys. With
// a Go map, an event of an informer took a sixth longer in deltafifo/fast. A pointer to an entry is
// valid until the entry is removed; an outdated reference leads to another entry, or panics. A
// large table or ring that becomes empty frees its memory. Callers must lock both.
package table

import "hash/maphash"

// Table is a map whose entries never move, so that a pointer to an entry stays valid until it is
// removed. It is a hash table with linear probing; the entries are in separate chunks. The
// reference of an entry is a number, half as large as a pointer, that the garbage collector need
// not scan.
//
// It is not safe for concurrent use, except that Hash may be called at any time.
//
// Invariants:
//
// At most 3/4 of the slots are used (live), so every probe ends soon.
//
// An entry's hash in its chunk is 0 if and only if it is not in the table; then the entry is zero.
type Table[K comparable, V any] struct {
	seed maphash.Seed // never changed

	slots []slot // length is a power of two
	live  int

	chunks    []*chunk[K, V]
	next, end uint32   // unused references are next to end-1
	free      []uint32 // references to reuse
}

// Entry is a key and its value.
type Entry[K comparable, V any] struct {
	Key   K
	Value V
}

// chunk is a block of entries. The hashes are separate to avoid padding.
type chunk[K comparable, V any] struct {
	entries [chunkSize]Entry[K, V]
	hashes  [chunkSize]uint32
}

// slot is a hash in the upper half and a reference in the lower; 0 is empty.
type slot uint64

func (s slot) hash() uint32 { return uint32(s >> 32) }
func (s slot) ref() uint32  { return uint32(s) }

const (
	// 26 KiB of records with string keys, 2 % less than a size class of the allocator.
	chunkSize = 512
	minSlots  = 64
	// A table that empties is freed if it ever held more entries than this: tables fill in bursts.
	keepSlots = 8192
	// taken is set in every hash, so that no hash is 0.
	taken = 1 << 31
)

// New returns a new table with room for n entries.
func New[K comparable, V any](n int) Table[K, V] {
	slots := minSlots
	for slots/4*3 < n {
		slots *= 2
	}
	return Table[K, V]{seed: maphash.MakeSeed(), slots: make([]slot, slots)}
}

// Hash returns the hash of key. It may be called without the lock that guards the table.
func (t *Table[K, V]) Hash(key K) uint32 { return uint32(maphash.Comparable(t.seed, key)) | taken }

// At returns the entry of a reference.
func (t *Table[K, V]) At(ref uint32) *Entry[K, V] {
	return &t.chunks[ref/chunkSize].entries[ref%chunkSize]
}

// Find returns the entry of key and its reference, or nil if there is none.
func (t *Table[K, V]) Find(key K, hash uint32) (ref uint32, e *Entry[K, V]) {
	_, ref, e = t.find(key, hash)
	return ref, e
}

// find returns the entry of key and its slot; if there is no entry, the slot where it belongs.
func (t *Table[K, V]) find(key K, hash uint32) (place, ref uint32, e *Entry[K, V]) {
	mask := uint32(len(t.slots) - 1)
	for place = hash & mask; ; place = (place + 1) & mask {
		s := t.slots[place]
		if s == 0 {
			return place, 0, nil
		}
		if s.hash() == hash {
			if e = t.At(s.ref()); e.Key == key {
				return place, s.ref(), e
			}
		}
	}
}

// Len returns the number of entries.
func (t *Table[K, V]) Len() int { return t.live }

// Obtain returns the entry of key and its reference, and adds a zero entry if there is none.
func (t *Table[K, V]) Obtain(key K, hash uint32) (ref uint32, e *Entry[K, V]) {
	place, ref, e := t.find(key, hash)
	if e != nil {
		return ref, e
	}
	if t.live >= len(t.slots)/4*3 {
		t.grow()
		place, _, _ = t.find(key, hash)
	}
	ref = t.allocate()
	t.slots[place] = slot(hash)<<32 | slot(ref)
	t.live++
	c := t.chunks[ref/chunkSize]
	c.hashes[ref%chunkSize] = hash
	e = &c.entries[ref%chunkSize]
	e.Key = key
	return ref, e
}

func (t *Table[K, V]) allocate() (ref uint32) {
	if n := len(t.free); n > 0 {
		ref, t.free = t.free[n-1], t.free[:n-1]
		return ref
	}
	if t.next == t.end {
		t.addChunk()
	}
	t.next++
	return t.next - 1
}

func (t *Table[K, V]) addChunk() {
	if len(t.chunks) == 0 {
		t.chunks = append(t.chunks, nil) // so that no reference is 0
	}
	t.next = uint32(len(t.chunks)) * chunkSize
	t.end = t.next + chunkSize
	t.chunks = append(t.chunks, new(chunk[K, V]))
}

// Remove removes and zeroes an entry, without comparing keys. It panics if the entry is not in the
// table.
func (t *Table[K, V]) Remove(ref uint32) {
	c := t.chunks[ref/chunkSize]
	if c.hashes[ref%chunkSize] == 0 { // otherwise the search for its slot would never end
		panic("table: Remove of an entry that is not in the table")
	}
	s := slot(c.hashes[ref%chunkSize])<<32 | slot(ref)
	c.entries[ref%chunkSize], c.hashes[ref%chunkSize] = Entry[K, V]{}, 0
	t.free = append(t.free, ref)
	t.live--

	mask := uint32(len(t.slots) - 1)
	place := s.hash() & mask
	for t.slots[place] != s {
		place = (place + 1) & mask
	}
	t.close(place)
	if t.live == 0 && len(t.slots) > keepSlots {
		t.reset()
	}
}

// reset removes all entries. It does not write the seed, which Hash reads without a lock.
func (t *Table[K, V]) reset() {
	t.slots, t.live = make([]slot, minSlots), 0
	t.chunks, t.free, t.next, t.end = nil, nil, 0, 0
}

// close empties a slot and moves back the slots behind it that would become unreachable from their
// home.
func (t *Table[K, V]) close(hole uint32) {
	mask := uint32(len(t.slots) - 1)
	for place := (hole + 1) & mask; t.slots[place] != 0; place = (place + 1) & mask {
		home := t.slots[place].hash() & mask
		if (place-home)&mask >= (place-hole)&mask { // home is not between hole and place
			t.slots[hole] = t.slots[place]
			hole = place
		}
	}
	t.slots[hole] = 0
}

func (t *Table[K, V]) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		place := s.hash() & mask
		for t.slots[place] != 0 {
			place = (place + 1) & mask
		}
		t.slots[place] = s
	}
}

// All calls visit with each entry, in no particular order.
func (t *Table[K, V]) All(visit func(ref uint32, e *Entry[K, V])) {
	for _, s := range t.slots {
		if s != 0 {
			visit(s.ref(), t.At(s.ref()))
		}
	}
}
