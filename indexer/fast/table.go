package fast

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"sync/atomic"
)

// table is a Swiss table from strings to entries: one writer at a time changes it while any number
// of readers look up entries without a lock.
//
// An entry is in the group chosen by its hash or, if that was full, in a later one. Two rules make
// lock-free reads safe:
//
//   - An entry never moves within an array of groups. A removed entry leaves a tombstone, so a
//     concurrent lookup does not miss later entries.
//   - Growing builds a new array and publishes it as a whole. A reader with the old array sees the
//     table as of the start of its lookup.
//
// Invariant: at most three quarters of the slots of an array are used or tombstones. So every
// lookup ends at an empty slot.
type table[E any] struct {
	seed  maphash.Seed
	entry func(*E) *entry // returns the entry of an E

	live   atomic.Int64
	groups atomic.Pointer[[]group[E]]

	used int // writer only: slots of the array that are not empty
}

// entry is the part of an element that a table needs. It does not change.
type entry struct {
	hash uint64
	key  string
}

// group is a Swiss-table group: one cache line. Each control byte describes the slot of the same
// number. So a lookup reads one cache line of the table and, in 99 of 100 cases, only the entry
// that it finds.
//
// Invariant: a slot whose control byte is full holds an entry with these bits of its hash. The
// writer stores an entry before its control byte. A reader that sees one without the other detects
// it by comparing keys, and returns as if it had run before or after the change.
type group[E any] struct {
	control atomic.Uint64
	slots   [groupSize]atomic.Pointer[E]
}

// groupSize is the number of slots that fit into a cache line with their control bytes. The eighth
// byte has no slot and is a tombstone.
const groupSize = 7

// Control bytes.
const (
	empty     uint64 = 0    // never used in this array: a lookup ends here
	tombstone uint64 = 1    // an entry was removed: a lookup continues
	full      uint64 = 0x80 // an entry; the other seven bits are those of its hash

	eachByte = 0x0101010101010101 // times a byte repeats it
	topBits  = full * eachByte
	slotBits = topBits >> 8 // the top bit of each byte that has a slot
)

// newTable returns an empty table with room for n entries.
func newTable[E any](n int, entryOf func(*E) *entry) *table[E] {
	t := &table[E]{seed: maphash.MakeSeed(), entry: entryOf}
	t.groups.Store(newGroups[E](n))
	return t
}

func newGroups[E any](n int) *[]group[E] {
	groups := make([]group[E], n/5+1) // five of seven slots: a little less than may be used
	for i := range groups {
		groups[i].control.Store(tombstone << 56)
	}
	return &groups
}

// capacity returns how many slots of an array may be used.
func capacity[E any](groups []group[E]) int { return len(groups) * groupSize * 3 / 4 }

func (t *table[E]) hash(key string) uint64 { return maphash.String(t.seed, key) }

func controlOf(hash uint64) uint64 { return full | hash&0x7f }

// zeroBytes returns a word whose lowest set bit is the top bit of the lowest zero byte of word.
// The bits above that may be wrong.
func zeroBytes(word uint64) uint64 { return (word - eachByte) &^ word & topBits }

// candidates returns a word with a bit set for each slot that may have the hash. It misses none.
func candidates(control, hash uint64) uint64 { return zeroBytes(control ^ controlOf(hash)*eachByte) }

// hasEmpty reports whether a lookup ends in the group: its entry would be in the empty slot.
func hasEmpty(control uint64) bool { return zeroBytes(control) != 0 }

func slotOf(word uint64) int { return bits.TrailingZeros64(word) / 8 }

// find returns the entry of key, which has this hash, or nil. Any goroutine may call it.
func find[E any, K string | []byte](t *table[E], hash uint64, key K) *E {
	groups := *t.groups.Load()
	for at := firstGroup(hash, len(groups)); ; at = nextGroup(at, len(groups)) {
		g := &groups[at]
		control := g.control.Load()
		for hits := candidates(control, hash); hits != 0; hits &= hits - 1 {
			if e := g.slots[slotOf(hits)].Load(); e != nil && t.entry(e).key == string(key) {
				return e
			}
		}
		if hasEmpty(control) {
			return nil
		}
	}
}

// firstGroup returns the group where a lookup begins. It depends on the upper bits of the hash; the
// lower ones are in the control byte.
func firstGroup(hash uint64, n int) int {
	at, _ := bits.Mul64(hash, uint64(n))
	return int(at)
}

func nextGroup(at, n int) int {
	if at++; at == n {
		return 0
	}
	return at
}

// len returns the number of entries. Any goroutine may call it.
func (t *table[E]) len() int { return int(t.live.Load()) }

// insert adds an entry whose key is not in the table. Writer only.
func (t *table[E]) insert(e *E) {
	if t.used >= capacity(*t.groups.Load()) {
		// With half as much again to spare, the next rebuild is at least n/2 insertions away.
		t.rebuild(t.len() + t.len()/2 + 1)
	}
	t.place(*t.groups.Load(), e)
	t.live.Add(1)
}

// place puts an entry into the first free slot of its lookup sequence.
func (t *table[E]) place(groups []group[E], e *E) {
	hash := t.entry(e).hash
	at := firstGroup(hash, len(groups))
	for ^groups[at].control.Load()&slotBits == 0 {
		at = nextGroup(at, len(groups))
	}
	g := &groups[at]
	slot := slotOf(^g.control.Load() & slotBits)
	if g.controlByte(slot) == empty {
		t.used++
	}
	g.slots[slot].Store(e)
	g.setControl(slot, controlOf(hash))
}

// remove removes an entry that is in the table. Writer only.
func (t *table[E]) remove(e *E) {
	groups := *t.groups.Load()
	at := firstGroup(t.entry(e).hash, len(groups))
	slot := groups[at].slotWith(e)
	for slot < 0 {
		at = nextGroup(at, len(groups))
		slot = groups[at].slotWith(e)
	}
	g := &groups[at]
	if hasEmpty(g.control.Load()) {
		// The group was never full, so no lookup continues beyond it.
		g.setControl(slot, empty)
		t.used--
	} else {
		g.setControl(slot, tombstone)
	}
	g.slots[slot].Store(nil)
	t.live.Add(-1)
	// A table that has shrunk a lot releases its memory.
	if live := t.len(); len(groups) > 1 && live < len(groups) {
		t.rebuild(live + live/2)
	}
}

// rebuild moves the entries to a new array with room for n, without the tombstones. Readers with
// the old array find the same entries.
func (t *table[E]) rebuild(n int) {
	next := newGroups[E](n)
	t.used = 0
	for e := range t.entries() {
		t.place(*next, e)
	}
	t.groups.Store(next)
}

// entries iterates over all entries, in no order. Writer only.
func (t *table[E]) entries() iter.Seq[*E] {
	return func(yield func(*E) bool) {
		groups := *t.groups.Load()
		for at := range groups {
			for slot := range groupSize {
				if e := groups[at].slots[slot].Load(); e != nil && !yield(e) {
					return
				}
			}
		}
	}
}

// slotWith returns the slot of e, or -1.
func (g *group[E]) slotWith(e *E) int {
	for slot := range g.slots {
		if g.slots[slot].Load() == e {
			return slot
		}
	}
	return -1
}

func (g *group[E]) controlByte(slot int) uint64 { return g.control.Load() >> (8 * slot) & 0xff }

func (g *group[E]) setControl(slot int, b uint64) {
	g.control.Store(g.control.Load()&^(0xff<<(8*slot)) | b<<(8*slot))
}
