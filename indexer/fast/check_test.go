package fast

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Check checks the invariants of the store, for tests outside the package.
func (x *Indexer[T]) Check() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.checkLocked()
}

// checkLocked checks every invariant of the store and returns the violations. It does not call the
// index functions.
func (x *Indexer[T]) checkLocked() error {
	c := x.contents.Load()
	errs := []error{c.records.check(), c.checkMembers("all objects", c.all, func(r *record[T]) int { return r.home })}
	if n, want := c.all.objects.n, c.records.len(); n != want {
		errs = append(errs, fmt.Errorf("all objects: %d for %d records", n, want))
	}
	if !slices.IsSortedFunc(c.indexes, func(a, b *index[T]) int { return strings.Compare(a.name, b.name) }) {
		errs = append(errs, errors.New("the indexes are not sorted by name"))
	}
	places := 0
	for _, ix := range c.indexes {
		for value, b := range ix.buckets {
			what := fmt.Sprintf("index %q, value %q", ix.name, value)
			if b.index != ix || b.value != value {
				errs = append(errs, fmt.Errorf("%s: the bucket belongs to index %q, value %q", what, b.index.name,
					b.value))
			}
			if b.objects.n == 0 {
				errs = append(errs, fmt.Errorf("%s: the bucket is empty", what))
			}
			errs = append(errs, c.checkMembers(what, &b.members, b.positionOf))
			places += b.objects.n
		}
	}
	// With the checks of the buckets this makes the relation one to one.
	for rec := range c.records.entries() {
		places -= len(rec.places)
	}
	if places != 0 {
		errs = append(errs, fmt.Errorf("places in buckets and in records differ by %d", places))
	}
	return errors.Join(errs...)
}

// checkMembers checks that every record knows its position and has the object that is there.
func (c *contents[T]) checkMembers(what string, m *members[T], position func(*record[T]) int) error {
	if err := errors.Join(m.objects.check(), m.records.check()); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if m.objects.n != m.records.n {
		return fmt.Errorf("%s: %d objects and %d records", what, m.objects.n, m.records.n)
	}
	objects := m.objects.elements()
	for pos, rec := range m.records.elements() {
		switch {
		case position(rec) != pos:
			return fmt.Errorf("%s: %q records position %d, is at %d", what, rec.key, position(rec), pos)
		case find(c.records, rec.hash, rec.key) != rec:
			return fmt.Errorf("%s: %q is not the record of its key", what, rec.key)
		case !same(objects[pos], rec.obj.load()):
			return fmt.Errorf("%s: %q has another object than its record", what, rec.key)
		}
	}
	return nil
}

// same compares two objects, which are pointers as a rule.
func same[T any](a, b T) bool {
	va, vb := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	return !va.Comparable() || va.Equal(vb)
}

// positionOf returns the position that rec records for b, or -1 if it records none or two.
func (b *bucket[T]) positionOf(rec *record[T]) int {
	at := -1
	for _, p := range rec.places {
		switch {
		case p.bucket != b:
		case at >= 0:
			return -1
		default:
			at = p.pos
		}
	}
	return at
}

// check checks the invariants of a list.
func (l *list[E]) check() error {
	if want := (l.n + chunkSize - 1) / chunkSize; len(l.chunks) != want {
		return fmt.Errorf("%d chunks for %d elements", len(l.chunks), l.n)
	}
	rest := l.n
	for i, c := range l.chunks {
		if c.epoch > l.epoch {
			return fmt.Errorf("chunk %d is of epoch %d, later than %d", i, c.epoch, l.epoch)
		}
		if len(c.items) != min(rest, chunkSize) {
			return fmt.Errorf("chunk %d holds %d of the last %d elements", i, len(c.items), rest)
		}
		if c.epoch == l.epoch && keepsBehindEnd(c.items) {
			return fmt.Errorf("chunk %d keeps an object behind its end", i)
		}
		rest -= len(c.items)
	}
	return nil
}

func keepsBehindEnd[E any](s []E) bool {
	return slices.ContainsFunc(s[len(s):cap(s)], func(e E) bool { return !reflect.ValueOf(&e).Elem().IsZero() })
}

// check checks the invariants of a table.
func (t *table[E]) check() error {
	groups := *t.groups.Load()
	used, live := 0, 0
	for at := range groups {
		g := &groups[at]
		if g.controlByte(groupSize) != tombstone {
			return fmt.Errorf("table: the byte without a slot of group %d is not a tombstone", at)
		}
		for slot := range groupSize {
			e, control := g.slots[slot].Load(), g.controlByte(slot)
			if control != empty {
				used++
			}
			switch {
			case (e == nil) != (control == empty || control == tombstone):
				return fmt.Errorf("table: slot %d of group %d has entry %v and control byte %x", slot, at, e, control)
			case e == nil:
				continue
			case control != controlOf(t.entry(e).hash):
				return fmt.Errorf("table: %q has control byte %x", t.entry(e).key, control)
			case find(t, t.entry(e).hash, t.entry(e).key) != e:
				return fmt.Errorf("table: %q is not found", t.entry(e).key)
			}
			live++
		}
	}
	if used > capacity(groups) {
		return fmt.Errorf("table: %d slots are used or tombstones, of %d groups: a look-up may not end", used,
			len(groups))
	}
	if used != t.used || live != t.len() {
		return fmt.Errorf("table: %d groups, used %d (counter %d), live %d (counter %d)", len(groups), used, t.used,
			live, t.len())
	}
	return nil
}
