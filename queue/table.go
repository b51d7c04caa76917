package queue

import "hash/maphash"

// table finds the record of a key: a hash table with linear probing whose
// records live in chunks that never move, so that a *record stays valid until
// it is removed.
//
// Why not a Go map? Of an item's way through the queue (Add, Get, Done) the map
// would be half: a miss and an insertion cost two probes, a hit and a deletion
// two more, where one each is enough. And a million delayed keys would cost 111
// bytes each for the map alone; here key, state and place in the table take 81.
//
// Invariant: live = number of slots that are not 0 <= half of all slots. So a
// probe always ends, and soon.
// Invariant: between two operations of the queue a record is settled if and only
// if it is free; free records are not in slots.
type table[K comparable] struct {
	seed maphash.Seed // never changed

	slots  []uint32 // power of two; 0 is empty, otherwise a reference: place + 1
	live   int
	chunks []*[chunkSize]record[K]
	used   uint32   // places handed out so far, free ones included
	free   []uint32 // references of removed records, to be used again
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

func newTable[K comparable]() table[K] {
	return table[K]{seed: maphash.MakeSeed(), slots: make([]uint32, minSlots)}
}

// hash may be called without the queue's lock.
func (t *table[K]) hash(key K) uint32 { return uint32(maphash.Comparable(t.seed, key)) }

func (t *table[K]) at(ref uint32) *record[K] {
	return &t.chunks[(ref-1)/chunkSize][(ref-1)%chunkSize]
}

// find returns the record of key, and its slot for remove; nil if there is none.
func (t *table[K]) find(key K, hash uint32) (slot uint32, r *record[K]) {
	mask := uint32(len(t.slots) - 1)
	for slot = hash & mask; ; slot = (slot + 1) & mask {
		ref := t.slots[slot]
		if ref == 0 {
			return slot, nil
		}
		if r = t.at(ref); r.hash == hash && r.key == key {
			return slot, r
		}
	}
}

// obtain returns the record of key and makes a blank one if there is none.
func (t *table[K]) obtain(key K, hash uint32) *record[K] {
	slot, r := t.find(key, hash)
	if r != nil {
		return r
	}
	if t.live*2 >= len(t.slots) {
		t.grow()
		slot, _ = t.find(key, hash)
	}
	ref := t.allocate()
	t.slots[slot] = ref
	t.live++
	r = t.at(ref)
	*r = blank[K]()
	r.key, r.hash = key, hash
	return r
}

func (t *table[K]) allocate() uint32 {
	if n := len(t.free); n > 0 {
		ref := t.free[n-1]
		t.free = t.free[:n-1]
		return ref
	}
	if int(t.used) == len(t.chunks)*chunkSize {
		t.chunks = append(t.chunks, new([chunkSize]record[K]))
	}
	t.used++
	return t.used
}

// remove forgets the record in slot, which must come from a find since which
// the table was not changed.
func (t *table[K]) remove(slot uint32) {
	ref := t.slots[slot]
	*t.at(ref) = blank[K]() // drop the key for the garbage collector
	t.free = append(t.free, ref)
	t.live--
	t.close(slot)
	if t.live == 0 && len(t.slots) > keepSlots {
		// Not the seed: hash reads it without the lock.
		t.slots, t.chunks, t.used, t.free = make([]uint32, minSlots), nil, 0, nil
	}
}

// close empties a slot and moves back the records behind it that a probe from
// their home slot could no longer reach.
func (t *table[K]) close(hole uint32) {
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

// grow doubles the slots. It goes through the records in the order of memory, not
// through the old slots: with a million records that is one cache miss for
// each of them less. None is free: the table is as full as it ever was, or it
// would have grown before.
func (t *table[K]) grow() {
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

// all calls visit with each record, in no particular order.
func (t *table[K]) all(visit func(*record[K])) {
	for _, ref := range t.slots {
		if ref != 0 {
			visit(t.at(ref))
		}
	}
}
