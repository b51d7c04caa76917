package indexer

import "slices"

// Snapshot is a store as plain data, for a browser view or a test.
type Snapshot struct {
	ResourceVersion string
	Keys            []string // sorted
	// Indices is the two-level map that client-go calls by this name, with the
	// name of the index in front: index name -> value -> keys, sorted.
	Indices map[string]map[string][]string
}

// Snapshot returns the store as it is at one moment. Writers wait while it
// takes the snapshots of the lists, not while it sorts; but it is not cheap,
// and meant for looking, not for working.
func (x *Indexer[T]) Snapshot() Snapshot {
	s := Snapshot{Indices: map[string]map[string][]string{}}
	objects, buckets := x.photograph(&s)
	s.Keys = keys(objects)
	slices.Sort(s.Keys)
	for b, v := range buckets {
		sorted := keys(v)
		slices.Sort(sorted)
		s.Indices[b.index.name][b.key] = sorted
	}
	return s
}

// photograph takes snapshots of all lists at one moment.
func (x *Indexer[T]) photograph(s *Snapshot) (objects *view[T, *record[T]], buckets map[*bucket[T]]*view[T, *record[T]]) {
	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.generation.Load()
	s.ResourceVersion = x.ResourceVersion()
	buckets = map[*bucket[T]]*view[T, *record[T]]{}
	for _, ix := range g.indexes {
		s.Indices[ix.name] = map[string][]string{}
		for b := range ix.buckets.entries() {
			buckets[b] = b.members.snapshot()
		}
	}
	return g.objects.snapshot(), buckets
}
