package deltafifo

import (
	"fmt"
	"hash/maphash"
)

// table finds the record of a key: a hash table with linear probing.
//
// Why not a Go map? An event asks three times: is the key there, no, so put it in, and later take
// it out. In a map that was a fifth of an event's whole way through an informer, half of it in the
// consumer, which removes. Here the first two are one search, and the third compares pointers: it
// looks at the slots and compares no key. An event's way costs a seventh less. (The tests compare it
// with a map, and package naive has one.)
//
// Invariant: at most three quarters of the slots are taken, so a search ends, and soon.
// Invariant: between the home of a record, which its hash says, and its slot none is empty.
type table[T any] struct {
	slots []slot[T] // length is a power of two
	count int
}

// slot has the hash beside the record so that a search that goes past others does not look at
// them.
type slot[T any] struct {
	record *record[T] // nil: the slot is empty
	hash   uint64
}

const minSlots = 16

var seed = maphash.MakeSeed()

// newTable returns a table that takes n records without growing.
func newTable[T any](n int) table[T] {
	slots := minSlots
	for slots/4*3 < n {
		slots *= 2
	}
	return table[T]{slots: make([]slot[T], slots)}
}

// find returns the slot of the key: the one with its record, or the empty one where it belongs.
func (t *table[T]) find(key string, hash uint64) *slot[T] {
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.record == nil || s.hash == hash && s.record.key == key {
			return s
		}
	}
}

// get returns the record of the key, or nil.
func (t *table[T]) get(key string) *record[T] {
	return t.find(key, maphash.String(seed, key)).record
}

// put makes r the record of its key, unless there is one, which it returns.
func (t *table[T]) put(r *record[T]) (there *record[T]) {
	hash := maphash.String(seed, r.key)
	s := t.find(r.key, hash)
	if s.record != nil {
		return s.record
	}
	if t.count == len(t.slots)/4*3 {
		t.grow()
		s = t.find(r.key, hash)
	}
	*s = slot[T]{record: r, hash: hash}
	t.count++
	return nil
}

// replace makes r the record of the key of old, which is in the table and has the same one.
func (t *table[T]) replace(old, r *record[T]) { t.slots[t.place(old)].record = r }

// remove takes out a record that is in the table. Those behind it that its slot had pushed away
// from their homes move back, so that no search ends before it has come to them.
func (t *table[T]) remove(r *record[T]) {
	mask := uint64(len(t.slots) - 1)
	hole := t.place(r)
	for at := (hole + 1) & mask; t.slots[at].record != nil; at = (at + 1) & mask {
		home := t.slots[at].hash & mask
		if (at-home)&mask >= (at-hole)&mask { // its home is not between the hole and where it is
			t.slots[hole] = t.slots[at]
			hole = at
		}
	}
	t.slots[hole] = slot[T]{}
	t.count--
}

// place returns where a record is that is in the table.
func (t *table[T]) place(r *record[T]) uint64 {
	mask := uint64(len(t.slots) - 1)
	for at := maphash.String(seed, r.key) & mask; ; at = (at + 1) & mask {
		switch t.slots[at].record {
		case r:
			return at
		case nil:
			panic(fmt.Sprintf("deltafifo: the record of %q is not in the table", r.key))
		}
	}
}

// vacancy returns the first empty slot on the way of a hash.
func (t *table[T]) vacancy(hash uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at].record != nil {
		at = (at + 1) & mask
	}
	return at
}

func (t *table[T]) grow() {
	old := t.slots
	t.slots = make([]slot[T], 2*len(old))
	for _, s := range old {
		if s.record != nil {
			t.slots[t.vacancy(s.hash)] = s
		}
	}
}

// check returns an error if an invariant does not hold.
func (t *table[T]) check() error {
	count := 0
	for _, s := range t.slots {
		if s.record == nil {
			continue
		}
		count++
		if t.get(s.record.key) != s.record {
			return fmt.Errorf("the record of %q is not found by its key", s.record.key)
		}
	}
	if count != t.count || count > len(t.slots)/4*3 {
		return fmt.Errorf("the table has %d records in %d slots, the count says %d", count, len(t.slots), t.count)
	}
	return nil
}
