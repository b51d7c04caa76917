package fast

import (
	"hash/maphash"
	"iter"
	"slices"

	"orrery/indexer"
)

func (x *Indexer[T]) Get(obj T) (stored T, exists bool) {
	key, err := x.config.Key(obj)
	if err != nil {
		return stored, false
	}
	return x.GetByKey(key)
}

// KnownKey returns namespace + "/" + name as the key string that the store holds, and whether it
// holds one. It does not allocate, which saves a caller one string per event of a known object.
func (x *Indexer[T]) KnownKey(namespace, name string) (key string, ok bool) {
	var room [128]byte // a longer key is built on the heap
	built := append(append(append(room[:0], namespace...), '/'), name...)
	records := x.contents.Load().records
	rec := find(records, maphash.Bytes(records.seed, built), built)
	if rec == nil {
		return "", false
	}
	return rec.key, true
}

func (x *Indexer[T]) Len() int { return x.contents.Load().records.len() }

// objects returns a snapshot of all objects.
func (x *Indexer[T]) objects() snapshot[T] {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.contents.Load().all.snapshot()
}

func (x *Indexer[T]) List() []T { return x.objects().objects.elements() }

func (x *Indexer[T]) ListKeys() []string { return x.objects().keys() }

func (x *Indexer[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		s := x.objects()
		for i, chunk := range s.objects.chunks {
			for j, obj := range chunk.items {
				if !yield(s.records.chunks[i].items[j].key, obj) {
					return
				}
			}
		}
	}
}

// find appends snapshots of the buckets of the values, all at one moment, to room. That of a value
// without objects is empty.
func (x *Indexer[T]) find(room []snapshot[T], name string, values ...string) (found []snapshot[T], err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ix := x.contents.Load().index(name)
	if ix == nil {
		return nil, &indexer.UnknownIndexError{Index: name}
	}
	for _, value := range values {
		var s snapshot[T]
		if b := ix.buckets[value]; b != nil {
			s = b.snapshot()
		}
		room = append(room, s)
	}
	return room, nil
}

func (x *Indexer[T]) ByIndex(name, value string) ([]T, error) {
	var room [1]snapshot[T]
	found, err := x.find(room[:0], name, value)
	if err != nil {
		return nil, err
	}
	return found[0].objects.elements(), nil
}

func (x *Indexer[T]) IndexKeys(name, value string) ([]string, error) {
	var room [1]snapshot[T]
	found, err := x.find(room[:0], name, value)
	if err != nil {
		return nil, err
	}
	keys := found[0].keys()
	slices.Sort(keys)
	return keys, nil
}

func (x *Indexer[T]) Index(name string, obj T) ([]T, error) {
	values, err := x.config.IndexValues(name, x.GetIndexers()[name], obj)
	if err != nil {
		return nil, err
	}
	buckets, err := x.find(nil, name, values...)
	if err != nil {
		return nil, err
	}
	all := []T{}
	seen := map[*record[T]]bool{}
	for _, s := range buckets {
		objects := s.objects.elements()
		for i, rec := range s.records.elements() {
			if !seen[rec] {
				seen[rec] = true
				all = append(all, objects[i])
			}
		}
	}
	return all, nil
}

// ListIndexFuncValues holds the lock for a time proportional to the number of values.
func (x *Indexer[T]) ListIndexFuncValues(name string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	values := []string{}
	if ix := x.contents.Load().index(name); ix != nil {
		for value := range ix.buckets {
			values = append(values, value)
		}
	}
	return values
}

func (x *Indexer[T]) GetIndexers() indexer.Indexers[T] { return x.contents.Load().indexers() }

func (x *Indexer[T]) Snapshot() indexer.Snapshot {
	s := indexer.Snapshot{Indices: map[string]map[string][]string{}}
	objects, buckets := x.snapshots()
	s.Keys = objects.keys()
	slices.Sort(s.Keys)
	for name, values := range buckets {
		s.Indices[name] = map[string][]string{}
		for value, bucket := range values {
			keys := bucket.keys()
			slices.Sort(keys)
			s.Indices[name][value] = keys
		}
	}
	return s
}

// snapshots returns snapshots of everything at one moment.
func (x *Indexer[T]) snapshots() (objects snapshot[T], buckets map[string]map[string]snapshot[T]) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c := x.contents.Load()
	buckets = map[string]map[string]snapshot[T]{}
	for _, ix := range c.indexes {
		buckets[ix.name] = map[string]snapshot[T]{}
		for value, b := range ix.buckets {
			buckets[ix.name][value] = b.snapshot()
		}
	}
	return c.all.snapshot(), buckets
}
