package indexer

// record is what the store knows of one key.
type record[T any] struct {
	identity // of the key, in the table of records

	// obj is for point reads. It is stored last in every write, so whoever has
	// seen an object here finds it in every list as well.
	obj cell[T]

	// The writer's part: where the object stands. home is its position in the
	// list of all objects, places are those in the buckets of the indexes, at
	// most one a bucket.
	home   int
	places []place[T]

	// Most objects stand in one bucket, that of their namespace. Room for it
	// here makes the record two cache lines, which is all that an update of an
	// object that stays where it is has to look at.
	placeRoom [1]place[T]
}

// place is where an object stands in a bucket.
type place[T any] struct {
	bucket *bucket[T]
	pos    int
}

func newRecord[T any](id identity) *record[T] {
	rec := &record[T]{identity: id}
	rec.places = rec.placeRoom[:0]
	return rec
}

func recordIdentity[T any](r *record[T]) *identity { return &r.identity }

// placeIn returns the place in b, where the object does stand.
func (rec *record[T]) placeIn(b *bucket[T]) *place[T] {
	for i := range rec.places {
		if rec.places[i].bucket == b {
			return &rec.places[i]
		}
	}
	panic("indexer: a bucket holds an object that does not know it")
}

// keys returns the keys of a snapshot as a slice that the caller owns.
func keys[T any](v *view[T, *record[T]]) []string {
	all := make([]string, 0, v.n)
	for _, c := range v.chunks {
		for _, rec := range c.owners {
			all = append(all, rec.key)
		}
	}
	return all
}
