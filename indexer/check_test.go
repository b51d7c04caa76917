package indexer

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// checkLocked verifies every invariant of the store and returns what is
// broken. It is slow, and there for the property tests. The index functions
// are not asked: what they should have said is the test's business.
func (x *Indexer[T]) checkLocked() error {
	g := x.generation.Load()
	errs := []error{
		g.records.check(),
		g.objects.check(),
		g.checkObjects(),
	}
	if g.gate.number.Load()%2 != 0 {
		errs = append(errs, errors.New("gate: odd outside of a write"))
	}
	if len(g.indexes) != len(g.definitions.names) {
		errs = append(errs, fmt.Errorf("%d indexes for %d definitions", len(g.indexes), len(g.definitions.names)))
	}
	places := 0
	for i, ix := range g.indexes {
		if ix.name != g.definitions.names[i] {
			errs = append(errs, fmt.Errorf("index %d is %q, its definition %q", i, ix.name, g.definitions.names[i]))
		}
		n, err := ix.check(g)
		places += n
		errs = append(errs, err)
	}
	// With the checks of the buckets this makes the relation one to one.
	for rec := range g.records.entries() {
		places -= len(rec.places)
	}
	if places != 0 {
		errs = append(errs, fmt.Errorf("places in buckets and in records differ by %d", places))
	}
	return errors.Join(errs...)
}

// checkObjects: the list of objects and the table of records hold the same.
func (g *generation[T]) checkObjects() error {
	if n, want := g.objects.len(), g.records.len(); n != want {
		return fmt.Errorf("objects: %d for %d records", n, want)
	}
	return g.checkMembers("objects", g.objects, func(rec *record[T]) int { return rec.home })
}

// checkMembers: every member's record knows where the member stands, and the
// object is the one that the record holds.
func (g *generation[T]) checkMembers(what string, l *list[T, *record[T]], where func(*record[T]) int) error {
	pos := 0
	for rec, obj := range l.current.Load().all() {
		switch {
		case where(rec) != pos:
			return fmt.Errorf("%s: %q believes to be at %d, is at %d", what, rec.key, where(rec), pos)
		case g.find(rec.key) != rec:
			return fmt.Errorf("%s: %q is not the record of its key", what, rec.key)
		case !same(obj, rec.obj.load()):
			return fmt.Errorf("%s: %q has another object than its record", what, rec.key)
		}
		pos++
	}
	return nil
}

// same compares two objects, which are pointers as a rule.
func same[T any](a, b T) bool {
	va, vb := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	return !va.Comparable() || va.Equal(vb)
}

// check verifies one index and returns how many places are in its buckets.
func (ix *index[T]) check(g *generation[T]) (places int, err error) {
	errs := []error{ix.buckets.check(), ix.filled.check()}
	if n, want := ix.filled.len(), ix.buckets.len(); n != want {
		errs = append(errs, fmt.Errorf("index %q: %d filled of %d buckets", ix.name, n, want))
	}
	pos := 0
	for b := range ix.filled.current.Load().all() {
		what := fmt.Sprintf("index %q, value %q", ix.name, b.key)
		switch {
		case b.pos != pos:
			errs = append(errs, fmt.Errorf("%s: believes to be at %d, is at %d", what, b.pos, pos))
		case ix.find(b.key) != b:
			errs = append(errs, fmt.Errorf("%s: is not the bucket of its value", what))
		case b.members.len() == 0:
			errs = append(errs, fmt.Errorf("%s: is empty", what))
		}
		errs = append(errs, b.members.check(), g.checkMembers(what, &b.members, b.whereIs))
		places += b.members.len()
		pos++
	}
	return places, errors.Join(errs...)
}

// whereIs returns where rec believes to stand in b, or -1 if it does not
// believe to, or twice.
func (b *bucket[T]) whereIs(rec *record[T]) int {
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

// check verifies the invariants of a list.
func (l *list[E, O]) check() error {
	v := l.current.Load()
	if v.epoch != l.noticed.Load() {
		return fmt.Errorf("list: the view is of epoch %d, noticed %d", v.epoch, l.noticed.Load())
	}
	if want := (v.n + chunkSize - 1) / chunkSize; len(v.chunks) != want {
		return fmt.Errorf("list: %d chunks for %d elements", len(v.chunks), v.n)
	}
	if v.chunksEpoch > v.epoch {
		return fmt.Errorf("list: the directory is of epoch %d, later than %d", v.chunksEpoch, v.epoch)
	}
	for _, w := range v.late {
		if w.pos < 0 || w.pos >= v.n {
			return fmt.Errorf("list: a late element for position %d of %d", w.pos, v.n)
		}
	}
	rest := v.n
	for i, c := range v.chunks {
		if c.epoch > v.epoch {
			return fmt.Errorf("list: chunk %d is of epoch %d, later than %d", i, c.epoch, v.epoch)
		}
		if len(c.items) != min(rest, chunkSize) {
			return fmt.Errorf("list: chunk %d holds %d of the last %d elements", i, len(c.items), rest)
		}
		if len(c.owners) != len(c.items) || c.ownersEpoch > c.epoch {
			return fmt.Errorf("list: chunk %d has %d owners of epoch %d for %d elements of epoch %d",
				i, len(c.owners), c.ownersEpoch, len(c.items), c.epoch)
		}
		if keepsBehindEnd(c.items) || c.ownersEpoch == v.epoch && keepsBehindEnd(c.owners) {
			return fmt.Errorf("list: chunk %d keeps something behind its end", i)
		}
		rest -= len(c.items)
	}
	return nil
}

func keepsBehindEnd[E any](s []E) bool {
	return slices.ContainsFunc(s[len(s):cap(s)], func(e E) bool { return !reflect.ValueOf(&e).Elem().IsZero() })
}

// check verifies the invariants of a table.
func (t *table[E]) check() error {
	groups := *t.groups.Load()
	used, live := 0, 0
	for at := range groups {
		g := &groups[at]
		if g.tagIn(groupSize) != left {
			return fmt.Errorf("table: group %d has something in the byte without a slot", at)
		}
		for slot := range groupSize {
			e, tag := g.entries[slot].Load(), g.tagIn(slot)
			if tag != never {
				used++
			}
			switch {
			case (e == nil) != (tag == never || tag == left):
				return fmt.Errorf("table: slot %d of group %d has entry %v and tag %x", slot, at, e, tag)
			case e == nil:
				continue
			case tag != tagOf(t.id(e).hash):
				return fmt.Errorf("table: %q has tag %x", t.id(e).key, tag)
			case t.find(t.id(e)) != e:
				return fmt.Errorf("table: %q is not found", t.id(e).key)
			}
			live++
		}
	}
	if used != t.used || live != t.len() || used > room(groups) {
		return fmt.Errorf("table: %d groups, used %d (noted %d), live %d (noted %d)", len(groups), used, t.used, live, t.len())
	}
	return nil
}
