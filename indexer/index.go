package indexer

// index is one index of a store: from each value to the objects that have it.
type index[T any] struct {
	name string // set once
	gate *gate  // set once

	buckets *table[bucket[T]]          // by value
	filled  list[struct{}, *bucket[T]] // the same buckets as owners of nothing, for reading them all at one moment
}

// bucket holds the objects that share one value of one index.
//
// Invariant: a bucket in the table is not empty. Empty ones would accumulate
// with values that come and go, such as the names of nodes or owners
// (kubernetes issue 84959).
type bucket[T any] struct {
	identity // of the value, in the table of buckets

	index   *index[T] // set once
	members list[T, *record[T]]
	pos     int // in index.filled; the writer's
}

func bucketIdentity[T any](b *bucket[T]) *identity { return &b.identity }

func newIndex[T any](name string, g *gate) *index[T] {
	ix := &index[T]{name: name, gate: g, buckets: newTable(0, bucketIdentity[T])}
	ix.filled.init(g)
	return ix
}

func (ix *index[T]) newBucket(value identity) *bucket[T] {
	b := &bucket[T]{identity: value, index: ix}
	b.members.init(ix.gate)
	return b
}

// find returns the bucket of a value, or nil. Any goroutine may call it.
func (ix *index[T]) find(value string) *bucket[T] {
	id := ix.buckets.identify(value)
	return ix.buckets.find(&id)
}

// add puts the object of rec under value. Writer only.
func (ix *index[T]) add(rec *record[T], value string, obj T) {
	id := ix.buckets.identify(value)
	b := ix.buckets.find(&id)
	if b == nil {
		b = ix.newBucket(id)
		b.pos = ix.filled.insert(struct{}{}, b)
		defer ix.buckets.insert(b) // when it is no longer empty
	}
	pos := b.members.insert(obj, rec)
	rec.places = append(rec.places, place[T]{bucket: b, pos: pos})
}

// take removes the object that stands at p, a place that its record has
// forgotten already. Writer only.
func (ix *index[T]) take(p place[T]) {
	b := p.bucket
	if moved, ok := b.members.remove(p.pos); ok {
		moved.placeIn(b).pos = p.pos
	}
	if b.members.len() > 0 {
		return
	}
	ix.buckets.remove(b)
	if moved, ok := ix.filled.remove(b.pos); ok {
		moved.pos = b.pos
	}
}

// swap puts another object of the same record at p. Writer only.
func (p *place[T]) swap(obj T) { p.bucket.members.set(p.pos, obj) }

// update makes obj, the new object of rec, stand under exactly the given
// values; repeated ones count once. Writer only.
func (ix *index[T]) update(rec *record[T], values []string, obj T) {
	if ix.swapAll(rec, values, obj) {
		return
	}
	old := ix.detach(rec)
	done := make(map[string]bool, len(values))
	for _, value := range values {
		if done[value] {
			continue
		}
		done[value] = true
		if p, stands := old[value]; stands {
			p.swap(obj)
			rec.places = append(rec.places, p)
			delete(old, value)
			continue
		}
		ix.add(rec, value, obj)
	}
	for _, p := range old {
		ix.take(p)
	}
}

// swapAll is update for the frequent cases in which no bucket is entered or
// left. It reports false, having done nothing, if this is not one of them.
//
// Invariant: the places of a record in an index are in the order of the values
// for which they were made; so an index function that answers the same twice
// is recognised by comparing in order.
func (ix *index[T]) swapAll(rec *record[T], values []string, obj T) bool {
	rest := values
	for i := range rec.places {
		b := rec.places[i].bucket
		if b.index != ix {
			continue
		}
		if len(rest) == 0 || rest[0] != b.key {
			return false
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return false
	}
	for i := range rec.places {
		if p := &rec.places[i]; p.bucket.index == ix {
			p.swap(obj)
		}
	}
	return true
}

// detach takes the places in this index out of rec and returns them by value.
// The object still stands there.
func (ix *index[T]) detach(rec *record[T]) map[string]place[T] {
	detached := map[string]place[T]{}
	kept := rec.places[:0]
	for _, p := range rec.places {
		if p.bucket.index == ix {
			detached[p.bucket.key] = p
		} else {
			kept = append(kept, p)
		}
	}
	clear(rec.places[len(kept):])
	rec.places = kept
	return detached
}
