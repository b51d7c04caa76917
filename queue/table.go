package queue

import "hash/maphash"

// table is a map from keys to values whose values never move, so that a pointer
// to an entry stays valid until the entry is removed. It is a hash table with
// linear probing; the entries live in chunks beside it. An entry can also be
// named by its reference, a number that is half as large as a pointer and
// that the garbage collector need not look at.
//
// Why not a Go map? A slot has the hash beside the reference, so probing past
// other keys, growing and closing gaps never look at an entry: of a million
// keys each look costs a cache miss. And a million delayed keys would cost 111
// bytes each for the map alone; here key, state and slot take 93, garbage of
// growing included.
//
// Invariant: live = number of slots that are not empty <= 3/4 of all slots. So a
// probe always ends, and soon.
// Invariant: an entry's hash in its chunk is 0 <=> it is not in the table, and
// then the entry is zero.
type table[K comparable, V any] struct {
	seed maphash.Seed // never changed

	slots []slot // length is a power of two
	live  int

	touched slot // so that the compiler does not take touch for useless

	chunks    []*chunk[K, V]
	holes     []uint32 // indexes of chunks that are nil
	next, end uint32   // references from next to end-1 have not been handed out yet
	free      []uint32 // references that can be handed out again
}

// entry is a key and its value.
type entry[K comparable, V any] struct {
	key   K
	value V
}

// chunk is a block of entries. The hashes are apart so that an entry is not
// padded for them.
type chunk[K comparable, V any] struct {
	entries [chunkSize]entry[K, V]
	hashes  [chunkSize]uint32
}

// slot is a hash in the upper half and a reference in the lower; 0 is empty.
type slot uint64

func (s slot) hash() uint32 { return uint32(s >> 32) }
func (s slot) ref() uint32  { return uint32(s) }

const (
	// 26 KiB of records with string keys, which is 2 % less than the next size
	// class of the allocator.
	chunkSize = 512
	minSlots  = 64
	// A table that empties is given back to the garbage collector if it once
	// held more than this. Queues fill in storms; the memory need not stay.
	keepSlots = 8192
	// taken is a bit of every hash, so that no hash is 0.
	taken = 1 << 31
)

func newTable[K comparable, V any]() table[K, V] {
	return table[K, V]{seed: maphash.MakeSeed(), slots: make([]slot, minSlots)}
}

// hash may be called without the queue's lock.
func (t *table[K, V]) hash(key K) uint32 { return uint32(maphash.Comparable(t.seed, key)) | taken }

// at returns the entry of a reference.
func (t *table[K, V]) at(ref uint32) *entry[K, V] {
	return &t.chunks[ref/chunkSize].entries[ref%chunkSize]
}

// find returns the entry of key, its reference, and its slot for remove; nil if
// there is none.
func (t *table[K, V]) find(key K, hash uint32) (place, ref uint32, e *entry[K, V]) {
	mask := uint32(len(t.slots) - 1)
	for place = hash & mask; ; place = (place + 1) & mask {
		s := t.slots[place]
		if s == 0 {
			return place, 0, nil
		}
		if s.hash() == hash {
			if e = t.at(s.ref()); e.key == key {
				return place, s.ref(), e
			}
		}
	}
}

// touch reads the slots in which these hashes are at home. The processor waits for all
// of them at the same time; one by one, as find needs them, it would wait for each. In
// a large table this is what a key costs.
func (t *table[K, V]) touch(hashes []uint32) {
	mask := uint32(len(t.slots) - 1)
	var touched slot
	for _, hash := range hashes {
		touched |= t.slots[hash&mask]
	}
	t.touched = touched
}

// full says that one more entry makes the table grow.
func (t *table[K, V]) full() bool { return t.live >= len(t.slots)/4*3 }

// obtain returns the entry of key and makes one with a zero value if there is
// none.
func (t *table[K, V]) obtain(key K, hash uint32) (ref uint32, e *entry[K, V]) {
	place, ref, e := t.find(key, hash)
	if e == nil {
		return t.insert(place, key, hash)
	}
	return ref, e
}

// insert makes an entry for a key that has none; find has returned place for it.
func (t *table[K, V]) insert(place uint32, key K, hash uint32) (ref uint32, e *entry[K, V]) {
	if t.full() {
		t.resize(2 * len(t.slots))
		place, _, _ = t.find(key, hash)
	}
	ref = t.allocate()
	t.slots[place] = slot(hash)<<32 | slot(ref)
	t.live++
	c := t.chunks[ref/chunkSize]
	c.hashes[ref%chunkSize] = hash
	e = &c.entries[ref%chunkSize]
	e.key = key
	return ref, e
}

func (t *table[K, V]) allocate() (ref uint32) {
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

func (t *table[K, V]) addChunk() {
	if len(t.chunks) == 0 {
		t.chunks = append(t.chunks, nil) // so that no reference is 0
	}
	index := uint32(len(t.chunks))
	if n := len(t.holes); n > 0 {
		index, t.holes = t.holes[n-1], t.holes[:n-1]
		t.chunks[index] = new(chunk[K, V])
	} else {
		t.chunks = append(t.chunks, new(chunk[K, V]))
	}
	t.next, t.end = index*chunkSize, (index+1)*chunkSize
}

// remove forgets the entry in a slot, which must come from a find since which
// the table was not changed.
func (t *table[K, V]) remove(place uint32) {
	ref := t.slots[place].ref()
	t.drop(t.chunks[ref/chunkSize], ref)
	t.free = append(t.free, ref)
	t.live--
	t.close(place)
	if t.live == 0 && len(t.slots) > keepSlots {
		t.clear()
	}
}

// drop makes an entry zero; so the garbage collector gets the key.
func (t *table[K, V]) drop(c *chunk[K, V], ref uint32) {
	c.entries[ref%chunkSize] = entry[K, V]{}
	c.hashes[ref%chunkSize] = 0
}

// clear forgets everything but the seed, which hash reads without the lock.
func (t *table[K, V]) clear() {
	*t = table[K, V]{seed: t.seed, slots: make([]slot, minSlots)}
}

// close empties a slot and moves back those behind it that a probe from their
// home could no longer reach.
func (t *table[K, V]) close(hole uint32) {
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

// resize gives the table another number of slots, a power of two.
func (t *table[K, V]) resize(slots int) {
	old := t.slots
	t.slots = make([]slot, slots)
	for _, s := range old {
		if s != 0 {
			t.put(s)
		}
	}
}

// put fills the slot of an entry that is not in the table yet.
func (t *table[K, V]) put(s slot) {
	mask := uint32(len(t.slots) - 1)
	place := s.hash() & mask
	for t.slots[place] != 0 {
		place = (place + 1) & mask
	}
	t.slots[place] = s
}

// sweep removes all entries that unwanted says are, and gives back the memory
// that is left over, if the table was large. It goes through the entries in the
// order of memory, so it costs a nanosecond or two for each.
func (t *table[K, V]) sweep(unwanted func(*V) bool) {
	large := len(t.slots) > keepSlots
	t.free, t.holes = t.free[:0], nil
	kept := make([]slot, 0, minSlots)
	for index, c := range t.chunks {
		before, freed := len(kept), len(t.free)
		if c != nil {
			kept = t.sweepChunk(uint32(index), c, unwanted, kept)
		}
		if len(kept) == before && index > 0 && (large || c == nil) {
			t.free = t.free[:freed]
			t.dropChunk(uint32(index))
		}
	}
	t.live = len(kept)
	if large {
		t.slots = make([]slot, slotsFor(t.live))
	} else {
		clear(t.slots)
	}
	for _, s := range kept {
		t.put(s)
	}
}

// slotsFor is how many slots a table of n entries gets that may grow.
func slotsFor(n int) int {
	slots := minSlots
	for slots < 2*n {
		slots *= 2
	}
	return slots
}

// sweepChunk appends slots for the entries that stay.
func (t *table[K, V]) sweepChunk(index uint32, c *chunk[K, V], unwanted func(*V) bool, kept []slot) []slot {
	for i := range uint32(chunkSize) {
		ref := index*chunkSize + i
		switch {
		case ref >= t.next && ref < t.end:
			// Not handed out yet.
		case c.hashes[i] == 0:
			t.free = append(t.free, ref)
		case unwanted(&c.entries[i].value):
			t.drop(c, ref)
			t.free = append(t.free, ref)
		default:
			kept = append(kept, slot(c.hashes[i])<<32|slot(ref))
		}
	}
	return kept
}

func (t *table[K, V]) dropChunk(index uint32) {
	t.chunks[index] = nil
	t.holes = append(t.holes, index)
	if t.end == (index+1)*chunkSize {
		t.next, t.end = 0, 0
	}
}

// all calls visit with each entry, in no particular order.
func (t *table[K, V]) all(visit func(ref uint32, e *entry[K, V])) {
	for _, s := range t.slots {
		if s != 0 {
			visit(s.ref(), t.at(s.ref()))
		}
	}
}
