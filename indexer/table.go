package indexer

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"sync/atomic"
)

// table is a hash table from strings to entries that one writer changes while
// any number of readers look things up without a lock.
//
// It is an array of groups of slots (group.go). An entry is in the group that
// its hash chooses, or, if that was full, in the one after it, and so on. Two rules make reading safe at any moment:
//
//   - an entry never moves within an array. A removed one leaves a mark, so
//     that a reader in the middle of a search cannot miss what comes after;
//   - growing builds a new array and publishes it whole. A reader that still
//     holds the old one sees the table as it was when it began.
//
// Invariant: at most three quarters of the slots of an array are in use or have
// been left. So there is a group in which a search ends.
type table[E any] struct {
	seed maphash.Seed       // set once
	id   func(*E) *identity // set once; the identity within an entry

	live   atomic.Int64 // entries, for anybody
	groups atomic.Pointer[[]group[E]]

	used int // writer only: slots of the current array that are in use or have been left
}

// newTable returns a table that takes n entries without growing. id returns
// the identity within an entry.
func newTable[E any](n int, id func(*E) *identity) *table[E] {
	t := &table[E]{seed: maphash.MakeSeed(), id: id}
	t.groups.Store(newGroups[E](n))
	return t
}

func newGroups[E any](n int) *[]group[E] {
	// Five of seven slots: a little less than may be in use.
	groups := make([]group[E], n/5+1)
	for i := range groups {
		groups[i].tags.Store(noTags)
	}
	return &groups
}

// room is how many slots of an array may be used.
func room[E any](groups []group[E]) int { return len(groups) * groupSize * 3 / 4 }

// identify returns the identity for key, for find and for a new entry.
func (t *table[E]) identify(key string) (id identity) {
	t.identifyAs(&id, key)
	return id
}

// identifyAs is identify without moving the result about. id is empty, or that of
// the same key.
func (t *table[E]) identifyAs(id *identity, key string) {
	id.key, id.hash = key, maphash.String(t.seed, key)
	copy(id.head[:], key)
}

// find returns the entry of that identity, or nil. Any goroutine may call it.
func (t *table[E]) find(id *identity) *E {
	groups := *t.groups.Load()
	for at := firstGroup(id.hash, len(groups)); ; at = after(at, len(groups)) {
		g := &groups[at]
		tags := g.tags.Load()
		for hits := matches(tags, id.hash); hits != 0; hits &= hits - 1 {
			if e := g.entries[slotOf(hits)].Load(); e != nil && t.id(e).is(id) {
				return e
			}
		}
		if isOpen(tags) {
			return nil
		}
	}
}

// findBytes is find for a key that is not a string. Any goroutine may call it.
func (t *table[E]) findBytes(key []byte) *E {
	id := identity{hash: maphash.Bytes(t.seed, key)}
	copy(id.head[:], key)
	groups := *t.groups.Load()
	for at := firstGroup(id.hash, len(groups)); ; at = after(at, len(groups)) {
		g := &groups[at]
		tags := g.tags.Load()
		for hits := matches(tags, id.hash); hits != 0; hits &= hits - 1 {
			if e := g.entries[slotOf(hits)].Load(); e != nil && t.id(e).isBytes(&id, key) {
				return e
			}
		}
		if isOpen(tags) {
			return nil
		}
	}
}

// firstGroup of n is where an entry is if there was room. It is the upper bits
// of the hash that decide, the lower ones are the tag.
func firstGroup(hash uint64, n int) int {
	at, _ := bits.Mul64(hash, uint64(n))
	return int(at)
}

// after is the group to look in if one was full.
func after(at, n int) int {
	if at++; at == n {
		return 0
	}
	return at
}

// len is the number of entries. Any goroutine may call it.
func (t *table[E]) len() int { return int(t.live.Load()) }

// insert adds an entry whose key is not in the table. Writer only.
func (t *table[E]) insert(e *E) {
	if t.used == room(*t.groups.Load()) {
		// With half as much again to spare the next time is at least n/2
		// insertions away, however many of them follow a removal.
		t.rebuild(t.len() + t.len()/2 + 1)
	}
	t.used += seat(*t.groups.Load(), e, t.id(e).hash)
	t.live.Add(1)
}

// seat puts an entry into the first free slot for it, and returns how many
// more slots are used then: one or none.
func seat[E any](groups []group[E], e *E, hash uint64) (used int) {
	for at := firstGroup(hash, len(groups)); ; at = after(at, len(groups)) {
		switch fresh, ok := groups[at].put(e, tagOf(hash)); {
		case ok && fresh:
			return 1
		case ok:
			return 0
		}
	}
}

// remove takes out an entry that is in the table. Writer only.
func (t *table[E]) remove(e *E) {
	groups := *t.groups.Load()
	at := firstGroup(t.id(e).hash, len(groups))
	fresh, ok := groups[at].remove(e)
	for !ok {
		at = after(at, len(groups))
		fresh, ok = groups[at].remove(e)
	}
	if fresh {
		t.used--
	}
	t.live.Add(-1)
	// A table that has shrunk a lot gives its memory back.
	if live := t.len(); len(groups) > 1 && live < len(groups) {
		t.rebuild(live + live/2)
	}
}

// rebuild moves the entries to a new array with room for n, without the marks
// of those that have left. Entries themselves are shared between the arrays, so
// a reader with the old one still sees their latest values.
func (t *table[E]) rebuild(n int) {
	next := newGroups[E](n)
	t.used = 0
	for e := range t.entries() {
		t.used += seat(*next, e, t.id(e).hash)
	}
	t.groups.Store(next)
}

// entries yields all entries, in no order. Writer only.
func (t *table[E]) entries() iter.Seq[*E] {
	return func(yield func(*E) bool) {
		groups := *t.groups.Load()
		for at := range groups {
			for slot := range groupSize {
				if e := groups[at].entries[slot].Load(); e != nil && !yield(e) {
					return
				}
			}
		}
	}
}
