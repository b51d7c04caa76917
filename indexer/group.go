package indexer

import (
	"math/bits"
	"sync/atomic"
)

// groupSize is how many entries fit into a cache line together with their tags.
const groupSize = 7

// group is a part of a table: one cache line. Each byte of tags says what is in
// the slot of the same number: a tag, which is seven bits of the entry's hash
// and the highest bit, or nothing. So a search looks at one cache line of the
// table and, but for one in a hundred, at no entry but the one that it finds.
//
// Invariant: a slot whose byte is a tag has an entry with that tag. The writer
// stores the entry before the tag. A reader that has read the tags before or
// after a change sees a slot that does not fit its tag, and finds that out by
// comparing keys: as if it had come before or after the change.
type group[E any] struct {
	tags    atomic.Uint64
	entries [groupSize]atomic.Pointer[E]
}

// What a byte of tags says. There is no slot for the highest byte; it is as if
// somebody had left it.
const (
	never uint64 = 0    // never used since the array was made: a search ends here
	left  uint64 = 1    // somebody has left it: a search goes on
	taken uint64 = 0x80 // this bit, and seven of the hash

	noTags  = left << 56
	inEach  = 0x0101010101010101 // times a byte is that byte in each byte
	highest = taken * inEach
	slotted = highest >> 8 // the highest bit of each byte that has a slot
)

func tagOf(hash uint64) uint64 { return taken | hash&0x7f }

// zeros returns a word with the highest bit set in the lowest byte of word that
// is zero, and clear in those below it. The bits above may be wrong.
func zeros(word uint64) uint64 { return (word - inEach) &^ word & highest }

// matches returns a word in which a bit is set for each slot that may have the
// tag of the hash, none missing.
func matches(tags, hash uint64) uint64 { return zeros(tags ^ tagOf(hash)*inEach) }

// slotOf returns the number of the lowest byte of which a bit is set.
func slotOf(word uint64) int { return bits.TrailingZeros64(word) / 8 }

// isOpen reports whether a search ends in a group with these tags: its entry
// would have been put into the slot that was never used.
func isOpen(tags uint64) bool { return zeros(tags) != 0 }

// put stores e in a free slot. ok is false if there is none; fresh says that
// the slot was never used before. Writer only.
func (g *group[E]) put(e *E, tag uint64) (fresh, ok bool) {
	tags := g.tags.Load()
	free := ^tags & slotted
	if free == 0 {
		return false, false
	}
	slot := slotOf(free)
	fresh = g.tagIn(slot) == never
	g.entries[slot].Store(e)
	g.setTag(slot, tag)
	return fresh, true
}

// remove takes e out. ok is false if it is not in the group. fresh says that
// the slot counts as never used again: if the group has such a slot it was
// never full, so no search has gone on to the next group for an entry of this
// one, and none needs to in future. Writer only.
func (g *group[E]) remove(e *E) (fresh, ok bool) {
	for slot := range g.entries {
		if g.entries[slot].Load() != e {
			continue
		}
		if fresh = isOpen(g.tags.Load()); fresh {
			g.setTag(slot, never)
		} else {
			g.setTag(slot, left)
		}
		g.entries[slot].Store(nil)
		return fresh, true
	}
	return false, false
}

func (g *group[E]) tagIn(slot int) uint64 { return g.tags.Load() >> (8 * slot) & 0xff }

func (g *group[E]) setTag(slot int, tag uint64) {
	g.tags.Store(g.tags.Load()&^(0xff<<(8*slot)) | tag<<(8*slot))
}
