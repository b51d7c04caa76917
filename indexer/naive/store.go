package naive

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"orrery/indexer"
)

// Store is the store as one would write it first, and as the article on
// the controller manager shows it: a map of objects and a map of indexes under
// one read-write lock. It computes the old index values by asking the index
// function about the old object, as client-go does.
//
// It is here to be read, to be compared with by the property tests, and to be
// measured: its weakness is that a List of everything holds the lock for
// reading, that a writer has to wait for it, and that a waiting writer makes
// all other readers wait.
type Store[T any] struct {
	config indexer.Config[T] // set once

	mu              sync.RWMutex // guards what follows
	items           map[string]T
	indexers        indexer.Indexers[T]
	indices         map[string]map[string]map[string]bool // index -> value -> keys
	resourceVersion string
}

// New returns an empty store. The configuration's Trace is not used.
func New[T any](config indexer.Config[T]) *Store[T] {
	s := &Store[T]{config: config, items: map[string]T{}, indexers: maps.Clone(config.Indexers)}
	if s.indexers == nil {
		s.indexers = indexer.Indexers[T]{}
	}
	s.resetIndicesLocked()
	return s
}

func (s *Store[T]) resetIndicesLocked() {
	s.indices = map[string]map[string]map[string]bool{}
	for name := range s.indexers {
		s.indices[name] = map[string]map[string]bool{}
	}
}

func (s *Store[T]) key(obj T) (string, error) {
	key, err := s.config.KeyFunc(obj)
	if err != nil {
		return "", &indexer.KeyError{Object: obj, Err: err}
	}
	return key, nil
}

// values asks an index function and turns a panic into an error.
func (s *Store[T]) values(name, key string, obj T) (values []string, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &indexer.IndexError{Index: name, Key: key, Err: &indexer.PanicError{Value: value}}
		}
	}()
	values, err = s.indexers[name](obj)
	if err != nil {
		return nil, &indexer.IndexError{Index: name, Key: key, Err: err}
	}
	return values, nil
}

// indexLocked moves key in one index from the values of the old object to
// those of the new one; either may be missing.
func (s *Store[T]) indexLocked(name, key string, old, obj *T) error {
	index := s.indices[name]
	if old != nil {
		oldValues, _ := s.values(name, key, *old) // if it failed there is nothing to remove
		for _, value := range oldValues {
			delete(index[value], key)
			if len(index[value]) == 0 {
				delete(index, value)
			}
		}
	}
	if obj == nil {
		return nil
	}
	values, err := s.values(name, key, *obj)
	for _, value := range values {
		if index[value] == nil {
			index[value] = map[string]bool{}
		}
		index[value][key] = true
	}
	return err
}

// indexAllLocked is indexLocked for the named indexes. It returns the errors.
func (s *Store[T]) indexAllLocked(names []string, key string, old, obj *T) (errs []error) {
	for _, name := range names {
		if err := s.indexLocked(name, key, old, obj); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Add stores an object.
func (s *Store[T]) Add(obj T) error {
	key, err := s.key(obj)
	if err != nil {
		return err
	}
	_, _, err = s.Put(key, obj)
	return err
}

// Put stores an object whose key is known, and returns the one that had it before.
func (s *Store[T]) Put(key string, obj T) (old T, existed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, existed = s.items[key]
	var before *T
	if existed {
		before = &old
	}
	s.items[key] = obj
	s.noteVersionLocked(obj)
	return old, existed, only(s.indexAllLocked(slices.Sorted(maps.Keys(s.indexers)), key, before, &obj))
}

// only joins errors.
func only(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	joined := &indexer.IndexErrors{Total: len(errs)}
	for _, err := range errs {
		joined.First = append(joined.First, err.(*indexer.IndexError))
	}
	return joined
}

func (s *Store[T]) noteVersionLocked(obj T) {
	if s.config.ResourceVersionFunc != nil {
		s.resourceVersion = s.config.ResourceVersionFunc(obj)
	}
}

// Update is Add.
func (s *Store[T]) Update(obj T) error { return s.Add(obj) }

// Delete removes the object with the key of obj.
func (s *Store[T]) Delete(obj T) error {
	key, err := s.key(obj)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteLocked(key)
	s.noteVersionLocked(obj)
	return nil
}

// DeleteKey removes the object of key.
func (s *Store[T]) DeleteKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteLocked(key)
}

func (s *Store[T]) deleteLocked(key string) {
	old, ok := s.items[key]
	if !ok {
		return
	}
	delete(s.items, key)
	for name := range s.indexers {
		_ = s.indexLocked(name, key, &old, nil)
	}
}

// Replace replaces everything.
func (s *Store[T]) Replace(items []T, resourceVersion string) error {
	next := make(map[string]T, len(items))
	for _, obj := range items {
		key, err := s.key(obj)
		if err != nil {
			return err
		}
		next[key] = obj
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = next
	s.resourceVersion = resourceVersion
	s.resetIndicesLocked()
	return s.indexItemsLocked(slices.Sorted(maps.Keys(s.indexers)))
}

func (s *Store[T]) indexItemsLocked(names []string) error {
	var errs []error
	for key, obj := range s.items {
		errs = append(errs, s.indexAllLocked(names, key, nil, &obj)...)
	}
	return only(errs)
}

// Resync does nothing.
func (s *Store[T]) Resync() error { return nil }

// Get returns the stored object with the key of obj.
func (s *Store[T]) Get(obj T) (stored T, exists bool) {
	key, err := s.key(obj)
	if err != nil {
		return stored, false
	}
	return s.GetByKey(key)
}

// GetByKey returns the object of key.
func (s *Store[T]) GetByKey(key string) (obj T, exists bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	obj, exists = s.items[key]
	return obj, exists
}

// List returns all objects.
func (s *Store[T]) List() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]T, 0, len(s.items))
	for _, obj := range s.items {
		all = append(all, obj)
	}
	return all
}

// ListKeys returns all keys.
func (s *Store[T]) ListKeys() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]string, 0, len(s.items))
	for key := range s.items {
		all = append(all, key)
	}
	return all
}

// Len returns the number of objects.
func (s *Store[T]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.items)
}

// pickLocked returns the objects of the keys.
func (s *Store[T]) pickLocked(keys map[string]bool) []T {
	picked := make([]T, 0, len(keys))
	for key := range keys {
		picked = append(picked, s.items[key])
	}
	return picked
}

// Index returns the objects that share a value with obj.
func (s *Store[T]) Index(name string, obj T) ([]T, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.indexers[name] == nil {
		return nil, &indexer.UnknownIndexError{Index: name}
	}
	key, err := s.key(obj)
	if err != nil {
		key = fmt.Sprint(obj)
	}
	values, err := s.values(name, key, obj)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, value := range values {
		maps.Copy(keys, s.indices[name][value])
	}
	return s.pickLocked(keys), nil
}

// ByIndex returns the objects that have the value.
func (s *Store[T]) ByIndex(name, value string) ([]T, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.indexers[name] == nil {
		return nil, &indexer.UnknownIndexError{Index: name}
	}
	return s.pickLocked(s.indices[name][value]), nil
}

// IndexKeys returns the keys of the objects that have the value, sorted.
func (s *Store[T]) IndexKeys(name, value string) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.indexers[name] == nil {
		return nil, &indexer.UnknownIndexError{Index: name}
	}
	return slices.Sorted(maps.Keys(s.indices[name][value])), nil
}

// ListIndexFuncValues returns the values that occur.
func (s *Store[T]) ListIndexFuncValues(name string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.AppendSeq([]string{}, maps.Keys(s.indices[name]))
}

// GetIndexers returns the index functions.
func (s *Store[T]) GetIndexers() indexer.Indexers[T] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.indexers)
}

// AddIndexers adds indexes.
func (s *Store[T]) AddIndexers(added indexer.Indexers[T]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(added))
	taken := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.indexers[name] == nil })
	if len(taken) > 0 {
		return &indexer.IndexerConflictError{Names: taken}
	}
	for _, name := range names {
		s.indexers[name] = added[name]
		s.indices[name] = map[string]map[string]bool{}
	}
	return s.indexItemsLocked(names)
}

// ResourceVersion returns the version of the store.
func (s *Store[T]) ResourceVersion() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.resourceVersion
}

// Bookmark moves the version.
func (s *Store[T]) Bookmark(resourceVersion string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resourceVersion = resourceVersion
}
