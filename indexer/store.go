package indexer

import (
	"maps"
	"slices"
	"sync"
)

// threadSafeMap is the textbook store: maps under one read-write lock. Its name and the fields
// items, indexers and indices are those of client-go in Kubernetes v1.16.
//
// What it lacks: a List of 100,000 objects blocks all writes while it copies, and index functions
// run with the lock held. In package fast readers do not block writers.
//
// An index finds objects by a value that an index function computes. With the index "node", and the
// pods default/a and default/b on the node n1:
//
//	items    default/a -> the pod a, default/b -> the pod b
//	indices  "node" -> "n1" -> {default/a, default/b}
//
// The slices and maps of a result are the reader's own, so it keeps them after the lock is
// released. The objects are shared. Read updateIndices first.
type threadSafeMap[T any] struct {
	mu       sync.RWMutex // guards the fields below
	items    map[string]T
	indexers Indexers[T]
	indices  map[string]map[string]map[string]bool // name of the index -> value -> set of keys
}

func newThreadSafeMap[T any]() *threadSafeMap[T] {
	return &threadSafeMap[T]{
		items:    map[string]T{},
		indexers: Indexers[T]{},
		indices:  map[string]map[string]map[string]bool{},
	}
}

// updateIndices moves key from the values of oldObj to those of newObj in the named indexes, and
// removes values that have no key left. oldObj is nil for a new object, newObj for a deletion. Both
// sets of values are computed here: if oldObj was changed after it was stored, a stale entry
// remains. If an index function fails for newObj (Values then returns none), key is in no set of
// that index, and the failure is added to errs, which is returned. The caller holds the lock.
func (s *threadSafeMap[T]) updateIndices(
	names []string, oldObj, newObj *T, key string, errs *IndexErrors,
) *IndexErrors {
	for _, name := range names {
		index, indexFunc := s.indices[name], s.indexers[name]
		if oldObj != nil {
			values, _ := indexFunc.Values(*oldObj) // if it fails, there is nothing to remove
			for _, value := range values {
				delete(index[value], key)
				if len(index[value]) == 0 {
					delete(index, value) // otherwise values that come and go would fill the memory
				}
			}
		}
		if newObj != nil {
			values, err := indexFunc.Values(*newObj)
			if err != nil {
				errs = errs.Add(name, key, err)
			}
			for _, value := range values {
				if index[value] == nil {
					index[value] = map[string]bool{}
				}
				index[value][key] = true
			}
		}
	}
	return errs
}

// rebuildIndices fills the named indexes from items.
func (s *threadSafeMap[T]) rebuildIndices(names []string) (errs *IndexErrors) {
	for _, index := range names {
		s.indices[index] = map[string]map[string]bool{}
	}
	for key, obj := range s.items {
		errs = s.updateIndices(names, nil, &obj, key, errs)
	}
	return errs
}

// Update stores obj under key and updates every index. It returns the previous object, if any, and
// the index functions that failed; obj is stored even then.
func (s *threadSafeMap[T]) Update(key string, obj T) (old T, existed bool, errs *IndexErrors) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, existed = s.items[key]
	s.items[key] = obj
	if existed {
		return old, existed, s.updateIndices(s.indexers.Names(), &old, &obj, key, nil)
	}
	return old, existed, s.updateIndices(s.indexers.Names(), nil, &obj, key, nil)
}

// Delete removes the object of key, if any, from items and every index, and reports whether there
// was one.
func (s *threadSafeMap[T]) Delete(key string) (existed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, existed := s.items[key]
	if existed {
		delete(s.items, key)
		s.updateIndices(s.indexers.Names(), &old, nil, key, nil)
	}
	return existed
}

// Replace makes items the content and rebuilds every index in one step: no reader sees some of the
// old objects and some of the new. The store owns the map afterwards.
func (s *threadSafeMap[T]) Replace(items map[string]T) *IndexErrors {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = items
	return s.rebuildIndices(s.indexers.Names())
}

// AddIndexers adds indexes to an empty or a filled store. If names exist already, it adds nothing
// and returns them.
func (s *threadSafeMap[T]) AddIndexers(added Indexers[T]) (taken []string, errs *IndexErrors) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range added.Names() {
		if _, exists := s.indexers[name]; exists {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		return taken, nil
	}
	maps.Copy(s.indexers, added)
	return nil, s.rebuildIndices(added.Names())
}

func (s *threadSafeMap[T]) GetByKey(key string) (obj T, exists bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	obj, exists = s.items[key]
	return obj, exists
}

func (s *threadSafeMap[T]) Len() int { s.mu.RLock(); defer s.mu.RUnlock(); return len(s.items) }

func (s *threadSafeMap[T]) List() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq(make([]T, 0, len(s.items)), maps.Values(s.items))
}

func (s *threadSafeMap[T]) ListKeys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq(make([]string, 0, len(s.items)), maps.Keys(s.items))
}

// copyItems returns a copy of the map.
func (s *threadSafeMap[T]) copyItems() map[string]T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.items)
}

// find returns the objects that have at least one of the values in the named index, each once, and
// their keys in the same order. Without an index of that name the error is an *UnknownIndexError.
func (s *threadSafeMap[T]) find(name string, values ...string) (keys []string, objects []T, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	index, exists := s.indices[name]
	if !exists {
		return nil, nil, &UnknownIndexError{Index: name}
	}
	found := map[string]bool{}
	if len(values) == 1 {
		found = index[values[0]]
	} else {
		for _, value := range values {
			maps.Copy(found, index[value])
		}
	}
	keys, objects = make([]string, 0, len(found)), make([]T, 0, len(found))
	for key := range found {
		keys, objects = append(keys, key), append(objects, s.items[key])
	}
	return keys, objects, nil
}

func (s *threadSafeMap[T]) ListIndexFuncValues(name string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq([]string{}, maps.Keys(s.indices[name]))
}

func (s *threadSafeMap[T]) GetIndexers() Indexers[T] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.indexers)
}

func (s *threadSafeMap[T]) Snapshot() Snapshot {
	s.mu.RLock()
	defer s.mu.RUnlock()
	snapshot := Snapshot{Keys: slices.Sorted(maps.Keys(s.items)), Indices: map[string]map[string][]string{}}
	for name, index := range s.indices {
		snapshot.Indices[name] = map[string][]string{}
		for value, keys := range index {
			snapshot.Indices[name][value] = slices.Sorted(maps.Keys(keys))
		}
	}
	return snapshot
}
