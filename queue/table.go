package queue

import "hash/maphash"

// table is a map from keys to values whose values never move, so that a pointer
// to an entry stays valid until the entry is removed. It is a hash table with
// linear probing; the entries live in chunks beside it.
//
// Why not a Go map? Of a key's way through the queue (Add, Get, Done) the map
// would be half: a miss and an insertion cost two probes, a hit and a deletion
// two more, where one each is enough. And a million delayed keys would cost 111
// bytes each for the map alone; here key, state and place in the table take 81.
//
// Invariant: live = number of slots that are not 0 <= half of all slots. So a
// probe always ends, and soon.
type table[K comparable, V any] struct {
	seed maphash.Seed // never changed

	slots  []uint32 // power of two; 0 is empty, otherwise a reference: place + 1
	live   int
	chunks []*[chunkSize]entry[K, V]
	used   uint32   // places handed out so far, free ones included
	free   []uint32 // references of removed entries, to be used again
}

// entry is a key and its value. Free entries are zero.
type entry[K comparable, V any] struct {
	key   K
	hash  uint32 // of key; kept so that the table never hashes twice
	value V
}

const (
	// 32 KiB of records with string keys. Smaller chunks do not fit the size
	// classes of the allocator and would waste a seventh.
	chunkSize = 512
	minSlots  = 64
	// A table that empties is given back to the garbage collector if it once
	// held more than this. Queues fill in storms; the memory need not stay.
	keepSlots = 8192
)

func newTable[K comparable, V any]() table[K, V] {
	return table[K, V]{seed: maphash.MakeSeed(), slots: make([]uint32, minSlots)}
}

// hash may be called without the queue's lock.
func (t *table[K, V]) hash(key K) uint32 { return uint32(maphash.Comparable(t.seed, key)) }

func (t *table[K, V]) at(ref uint32) *entry[K, V] {
	return &t.chunks[(ref-1)/chunkSize][(ref-1)%chunkSize]
}

// find returns the entry of key, and its slot for remove; nil if there is none.
func (t *table[K, V]) find(key K, hash uint32) (slot uint32, e *entry[K, V]) {
	mask := uint32(len(t.slots) - 1)
	for slot = hash & mask; ; slot = (slot + 1) & mask {
		ref := t.slots[slot]
		if ref == 0 {
			return slot, nil
		}
		if e = t.at(ref); e.hash == hash && e.key == key {
			return slot, e
		}
	}
}

// obtain returns the entry of key and makes one with a zero value if there is
// none.
func (t *table[K, V]) obtain(key K, hash uint32) *entry[K, V] {
	slot, e := t.find(key, hash)
	if e != nil {
		return e
	}
	if t.live*2 >= len(t.slots) {
		t.grow()
		slot, _ = t.find(key, hash)
	}
	ref := t.allocate()
	t.slots[slot] = ref
	t.live++
	e = t.at(ref)
	e.key, e.hash = key, hash
	return e
}

func (t *table[K, V]) allocate() uint32 {
	if n := len(t.free); n > 0 {
		ref := t.free[n-1]
		t.free = t.free[:n-1]
		return ref
	}
	if int(t.used) == len(t.chunks)*chunkSize {
		t.chunks = append(t.chunks, new([chunkSize]entry[K, V]))
	}
	t.used++
	return t.used
}

// remove forgets the entry in slot, which must come from a find since which
// the table was not changed.
func (t *table[K, V]) remove(slot uint32) {
	ref := t.slots[slot]
	*t.at(ref) = entry[K, V]{} // drop the key for the garbage collector
	t.free = append(t.free, ref)
	t.live--
	t.close(slot)
	if t.live == 0 && len(t.slots) > keepSlots {
		// Not the seed: hash reads it without the lock.
		t.slots, t.chunks, t.used, t.free = make([]uint32, minSlots), nil, 0, nil
	}
}

// close empties a slot and moves back the entries behind it that a probe from
// their home slot could no longer reach.
func (t *table[K, V]) close(hole uint32) {
	mask := uint32(len(t.slots) - 1)
	for slot := (hole + 1) & mask; t.slots[slot] != 0; slot = (slot + 1) & mask {
		home := t.at(t.slots[slot]).hash & mask
		if (slot-home)&mask >= (slot-hole)&mask { // home is not between hole and slot
			t.slots[hole] = t.slots[slot]
			hole = slot
		}
	}
	t.slots[hole] = 0
}

// grow doubles the slots. It goes through the entries in the order of memory, not
// through the old slots: with a million entries that is one cache miss for
// each of them less. None is free: the table is as full as it ever was, or it
// would have grown before.
func (t *table[K, V]) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := uint32(len(t.slots) - 1)
	for ref := uint32(1); ref <= t.used; ref++ {
		slot := t.at(ref).hash & mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.slots[slot] = ref
	}
}

// all calls visit with each entry, in no particular order.
func (t *table[K, V]) all(visit func(*entry[K, V])) {
	for _, ref := range t.slots {
		if ref != 0 {
			visit(t.at(ref))
		}
	}
}
