package indexer

import "slices"

// index returns the named index of the current generation.
func (x *Indexer[T]) index(name string) (*index[T], error) {
	ix := x.generation.Load().index(name)
	if ix == nil {
		return nil, &UnknownIndexError{Index: name}
	}
	return ix, nil
}

// byIndex returns the members of one bucket.
func (x *Indexer[T]) byIndex(name, value string) (*view[T, *record[T]], error) {
	ix, err := x.index(name)
	if err != nil {
		return nil, err
	}
	b := ix.find(value)
	if b == nil {
		return &view[T, *record[T]]{}, nil
	}
	return b.members.snapshot(), nil
}

// ByIndex returns the objects that have the value in the named index, in no
// order. The slice is the caller's, the objects are not. The error is an
// [*UnknownIndexError].
func (x *Indexer[T]) ByIndex(name, value string) ([]T, error) {
	v, err := x.byIndex(name, value)
	if err != nil {
		return nil, err
	}
	return v.elements(), nil
}

// IndexKeys returns the keys of the objects that have the value in the named
// index, sorted. The error is an [*UnknownIndexError].
func (x *Indexer[T]) IndexKeys(name, value string) ([]string, error) {
	v, err := x.byIndex(name, value)
	if err != nil {
		return nil, err
	}
	sorted := keys(v)
	slices.Sort(sorted)
	return sorted, nil
}

// Index returns the objects that share a value of the named index with obj, in
// no order, each once. obj itself need not be in the store. The error is an
// [*UnknownIndexError], or an [*IndexError] if the index function fails for
// obj.
func (x *Indexer[T]) Index(name string, obj T) ([]T, error) {
	g := x.generation.Load()
	at := slices.Index(g.definitions.names, name)
	if at < 0 {
		return nil, &UnknownIndexError{Index: name}
	}
	values, err := callIndexFunc(g.definitions.funcs[at], obj)
	if err != nil {
		return nil, x.indexError(name, obj, err)
	}
	if len(values) == 1 {
		return x.ByIndex(name, values[0])
	}
	return union(x.snapshots(g, g.indexes[at], values)), nil
}

// indexError names the object as well as it can.
func (x *Indexer[T]) indexError(name string, obj T, err error) error {
	key, keyErr := x.key(obj)
	if keyErr != nil {
		key = "(an object without a key)"
	}
	return &IndexError{Index: name, Key: key, Err: err}
}

// snapshots returns the buckets of several values at one moment.
func (x *Indexer[T]) snapshots(g *generation[T], ix *index[T], values []string) []*view[T, *record[T]] {
	views := make([]*view[T, *record[T]], 0, len(values))
	x.atOneMoment(g, func() {
		views = views[:0]
		for _, value := range values {
			if b := ix.find(value); b != nil {
				views = append(views, b.members.snapshot())
			}
		}
	})
	return views
}

// atOneMoment calls read until no write has come in between. Under a storm of
// writes that may never be the case; then writers wait for this reader, as
// long as a few loads take.
func (x *Indexer[T]) atOneMoment(g *generation[T], read func()) {
	const attempts = 5
	for range attempts {
		number := g.gate.pass()
		if read(); g.gate.unmoved(number) {
			return
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	read()
}

// union returns the objects of all views, each key once.
func union[T any](views []*view[T, *record[T]]) []T {
	all := []T{}
	seen := map[string]bool{}
	for _, v := range views {
		for rec, obj := range v.all() {
			if !seen[rec.key] {
				seen[rec.key] = true
				all = append(all, obj)
			}
		}
	}
	return all
}

// ListIndexFuncValues returns the values that occur in the named index, in no
// order: none if there is no such index.
func (x *Indexer[T]) ListIndexFuncValues(name string) []string {
	ix, err := x.index(name)
	if err != nil {
		return []string{}
	}
	v := ix.filled.snapshot()
	values := make([]string, 0, v.n)
	for b := range v.all() {
		values = append(values, b.key)
	}
	return values
}

// GetIndexers returns the index functions by name. The map is the caller's.
func (x *Indexer[T]) GetIndexers() Indexers[T] {
	return x.generation.Load().definitions.all()
}
