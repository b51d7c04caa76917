package indexer

import "sync/atomic"

// record is what the store knows of one key.
type record[T any] struct {
	identity // of the key, in the table of records

	// obj is for point reads. It is stored last in every write, so whoever has
	// seen an object here finds it in every list as well.
	obj atomic.Pointer[T]

	// The writer's part: where the object stands. home is its place in the
	// list of all objects, places are those in the buckets of the indexes,
	// at most one a bucket.
	home   place[T]
	places []*place[T]

	// Most objects stand in one bucket, that of their namespace. Room for that
	// within the record spares an update two cache misses.
	first     place[T]
	placeRoom [1]*place[T]
}

func newRecord[T any](id identity) *record[T] {
	rec := &record[T]{identity: id}
	rec.home.record = rec
	rec.places = rec.placeRoom[:0]
	return rec
}

func recordIdentity[T any](r *record[T]) *identity { return &r.identity }

// newPlace returns a place in a bucket and notes it.
func (rec *record[T]) newPlace(b *bucket[T]) *place[T] {
	p := &rec.first
	if p.record != nil {
		p = &place[T]{}
	}
	p.record, p.bucket = rec, b
	rec.places = append(rec.places, p)
	return p
}

// place is where one object stands in one list. record never changes while
// the place is in use; the rest belongs to the writer.
type place[T any] struct {
	record *record[T]
	bucket *bucket[T] // nil for the list of all objects
	pos    int
}

// member is an element of a list of objects: the object, and the way back from
// the element to the place that has to learn when the element moves.
type member[T any] struct {
	obj   T
	place *place[T]
}

// put adds obj to l at the place p.
func (p *place[T]) put(l *list[member[T]], obj T) {
	p.pos = l.insert(member[T]{obj: obj, place: p})
}

// swap replaces the object at the place.
func (p *place[T]) swap(l *list[member[T]], obj T) {
	l.set(p.pos, member[T]{obj: obj, place: p})
}

// leave removes the object at the place.
func (p *place[T]) leave(l *list[member[T]]) {
	if moved, ok := l.remove(p.pos); ok {
		moved.place.pos = p.pos
	}
}

// objects returns the objects of a snapshot as a slice that the caller owns.
func objects[T any](v *view[member[T]]) []T {
	all := make([]T, v.n)
	rest := all
	for _, c := range v.chunks {
		for i := range c.items {
			rest[i] = c.items[i].obj
		}
		rest = rest[len(c.items):]
	}
	return all
}

// keys returns the keys of a snapshot as a slice that the caller owns.
func keys[T any](v *view[member[T]]) []string {
	all := make([]string, 0, v.n)
	for _, c := range v.chunks {
		for i := range c.items {
			all = append(all, c.items[i].place.record.key)
		}
	}
	return all
}
