package deltafifo

import (
	"errors"
	"fmt"
	"iter"
)

// keepCapacity is how many places an empty line keeps. After a list of 100,000 objects has
// passed, its table and slice would otherwise stay in memory for the life of the process.
const keepCapacity = 1024

// line is the waiting line: records in order of arrival, one per key. It knows nothing of
// locks, stores or consumers.
//
// Invariant: the records in order[head:] that hold deltas are exactly those in byKey, each once.
// (A record without deltas left the line from the middle; its place is skipped.)
type line[T any] struct {
	byKey table[T]
	order []*record[T]
	head  int
}

func newLine[T any](capacity int) *line[T] {
	return &line[T]{
		byKey: newTable[T](capacity),
		order: make([]*record[T], 0, capacity),
	}
}

// len returns the number of keys in the line.
func (l *line[T]) len() int { return l.byKey.count }

// get returns the record of the key, or nil.
func (l *line[T]) get(key string) *record[T] { return l.byKey.get(key) }

// all yields the records in order. The line must not change meanwhile, except by drop.
func (l *line[T]) all() iter.Seq[*record[T]] {
	return func(yield func(*record[T]) bool) {
		for _, r := range l.order[l.head:] {
			if r != nil && len(r.deltas) > 0 && !yield(r) {
				return
			}
		}
	}
}

// push puts the record at the end, unless there is one for its key in the line, which it returns.
func (l *line[T]) push(r *record[T]) (there *record[T]) {
	if there := l.byKey.put(r); there != nil {
		return there
	}
	// Half of a full slice being used up places, moving the rest down is cheaper than growing,
	// and keeps the slice in proportion to what waits.
	if len(l.order) == cap(l.order) && l.head > len(l.order)/2 {
		n := copy(l.order, l.order[l.head:])
		clear(l.order[n:])
		l.order, l.head = l.order[:n], 0
	}
	l.order = append(l.order, r)
	return nil
}

// take removes the first record and returns it. The line must not be empty.
func (l *line[T]) take() *record[T] {
	for {
		r := l.order[l.head]
		l.order[l.head] = nil // the consumer owns it now, and the collector once it is done
		l.head++
		if len(r.deltas) == 0 {
			continue
		}
		l.byKey.remove(r)
		l.tidy()
		return r
	}
}

// drop removes the key from wherever it stands. It is no error if it does not.
func (l *line[T]) drop(key string) {
	r := l.byKey.get(key)
	if r == nil {
		return
	}
	r.void()
	l.byKey.remove(r)
	l.tidy()
}

// tidy makes an empty line start over, and lets go of the memory if it was a long one.
func (l *line[T]) tidy() {
	switch {
	case l.len() > 0:
	case cap(l.order) > keepCapacity:
		*l = *newLine[T](0)
	default:
		clear(l.order[l.head:])
		l.order, l.head = l.order[:0], 0
	}
}

// absorb appends the other line, which must not be used afterwards. A key that stands in both
// keeps its place in l, and join decides what becomes of its deltas.
//
// The shorter of the two is poured into the table of the longer one. A list of 100,000 objects is
// lined up without any lock and then absorbed by a line that is usually almost empty; the lock
// is held for the work that the few waiting keys make, not for 100,000 insertions.
func (l *line[T]) absorb(other *line[T], join func(mine, theirs *record[T])) {
	meet := func(mine, theirs *record[T]) {
		join(mine, theirs)
		theirs.void()
	}
	if other.len() > l.len() {
		for mine := range l.all() {
			if theirs := other.byKey.put(mine); theirs != nil {
				other.byKey.replace(theirs, mine)
				meet(mine, theirs)
			}
		}
		l.byKey = other.byKey
	} else {
		for theirs := range other.all() {
			if mine := l.byKey.put(theirs); mine != nil {
				meet(mine, theirs)
			}
		}
	}
	if l.head == len(l.order) {
		l.order, l.head = other.order, other.head
		return
	}
	l.order = append(l.order, other.order[other.head:]...)
}

// check returns an error if the invariant does not hold.
func (l *line[T]) check() error {
	seen := make(map[string]bool, l.len())
	for r := range l.all() {
		if seen[r.key] {
			return fmt.Errorf("key %q stands in the line twice", r.key)
		}
		if l.get(r.key) != r {
			return fmt.Errorf("key %q stands in the line, but the table has another record for it", r.key)
		}
		seen[r.key] = true
	}
	if len(seen) != l.len() {
		return fmt.Errorf("the line has %d keys, its table has %d", len(seen), l.len())
	}
	if l.len() == 0 && l.head != len(l.order) {
		return errors.New("an empty line still has places")
	}
	return l.byKey.check()
}
