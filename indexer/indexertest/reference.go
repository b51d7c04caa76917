package indexertest

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"orrery/indexer"
)

// Reference is the store as one would write it first, and as the article on
// the controller manager shows it: a map of objects and a map of indexes under
// one read-write lock. It computes the old index values by asking the index
// function about the old object, as client-go does.
//
// It is here to be read, to be compared with by the property tests, and to be
// measured: its weakness is that a List of everything holds the lock for
// reading, that a writer has to wait for it, and that a waiting writer makes
// all other readers wait.
type Reference[T any] struct {
	config indexer.Config[T] // set once

	mu              sync.RWMutex // guards what follows
	items           map[string]T
	indexers        indexer.Indexers[T]
	indices         map[string]map[string]map[string]bool // index -> value -> keys
	resourceVersion string
}

// NewReference returns an empty store. The configuration's Trace is not used.
func NewReference[T any](config indexer.Config[T]) *Reference[T] {
	r := &Reference[T]{config: config, items: map[string]T{}, indexers: maps.Clone(config.Indexers)}
	if r.indexers == nil {
		r.indexers = indexer.Indexers[T]{}
	}
	r.resetIndicesLocked()
	return r
}

func (r *Reference[T]) resetIndicesLocked() {
	r.indices = map[string]map[string]map[string]bool{}
	for name := range r.indexers {
		r.indices[name] = map[string]map[string]bool{}
	}
}

func (r *Reference[T]) key(obj T) (string, error) {
	key, err := r.config.KeyFunc(obj)
	if err != nil {
		return "", &indexer.KeyError{Object: obj, Err: err}
	}
	return key, nil
}

// values asks an index function and turns a panic into an error.
func (r *Reference[T]) values(name, key string, obj T) (values []string, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &indexer.IndexError{Index: name, Key: key, Err: &indexer.PanicError{Value: value}}
		}
	}()
	values, err = r.indexers[name](obj)
	if err != nil {
		return nil, &indexer.IndexError{Index: name, Key: key, Err: err}
	}
	return values, nil
}

// indexLocked moves key in one index from the values of the old object to
// those of the new one; either may be missing.
func (r *Reference[T]) indexLocked(name, key string, old, obj *T) error {
	index := r.indices[name]
	if old != nil {
		oldValues, _ := r.values(name, key, *old) // if it failed there is nothing to remove
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
	values, err := r.values(name, key, *obj)
	for _, value := range values {
		if index[value] == nil {
			index[value] = map[string]bool{}
		}
		index[value][key] = true
	}
	return err
}

// indexAllLocked is indexLocked for the named indexes. It returns the errors.
func (r *Reference[T]) indexAllLocked(names []string, key string, old, obj *T) (errs []error) {
	for _, name := range names {
		if err := r.indexLocked(name, key, old, obj); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Add stores an object.
func (r *Reference[T]) Add(obj T) error {
	key, err := r.key(obj)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var old *T
	if stored, ok := r.items[key]; ok {
		old = &stored
	}
	r.items[key] = obj
	r.noteVersionLocked(obj)
	return only(r.indexAllLocked(slices.Sorted(maps.Keys(r.indexers)), key, old, &obj))
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

func (r *Reference[T]) noteVersionLocked(obj T) {
	if r.config.ResourceVersionFunc != nil {
		r.resourceVersion = r.config.ResourceVersionFunc(obj)
	}
}

// Update is Add.
func (r *Reference[T]) Update(obj T) error { return r.Add(obj) }

// Delete removes the object with the key of obj.
func (r *Reference[T]) Delete(obj T) error {
	key, err := r.key(obj)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deleteLocked(key)
	r.noteVersionLocked(obj)
	return nil
}

// DeleteKey removes the object of key.
func (r *Reference[T]) DeleteKey(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deleteLocked(key)
}

func (r *Reference[T]) deleteLocked(key string) {
	old, ok := r.items[key]
	if !ok {
		return
	}
	delete(r.items, key)
	for name := range r.indexers {
		_ = r.indexLocked(name, key, &old, nil)
	}
}

// Replace replaces everything.
func (r *Reference[T]) Replace(items []T, resourceVersion string) error {
	next := make(map[string]T, len(items))
	for _, obj := range items {
		key, err := r.key(obj)
		if err != nil {
			return err
		}
		next[key] = obj
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = next
	r.resourceVersion = resourceVersion
	r.resetIndicesLocked()
	return r.indexItemsLocked(slices.Sorted(maps.Keys(r.indexers)))
}

func (r *Reference[T]) indexItemsLocked(names []string) error {
	var errs []error
	for key, obj := range r.items {
		errs = append(errs, r.indexAllLocked(names, key, nil, &obj)...)
	}
	return only(errs)
}

// Resync does nothing.
func (r *Reference[T]) Resync() error { return nil }

// Get returns the stored object with the key of obj.
func (r *Reference[T]) Get(obj T) (stored T, exists bool) {
	key, err := r.key(obj)
	if err != nil {
		return stored, false
	}
	return r.GetByKey(key)
}

// GetByKey returns the object of key.
func (r *Reference[T]) GetByKey(key string) (obj T, exists bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	obj, exists = r.items[key]
	return obj, exists
}

// List returns all objects.
func (r *Reference[T]) List() []T {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]T, 0, len(r.items))
	for _, obj := range r.items {
		all = append(all, obj)
	}
	return all
}

// ListKeys returns all keys.
func (r *Reference[T]) ListKeys() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]string, 0, len(r.items))
	for key := range r.items {
		all = append(all, key)
	}
	return all
}

// Len returns the number of objects.
func (r *Reference[T]) Len() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.items)
}

// pickLocked returns the objects of the keys.
func (r *Reference[T]) pickLocked(keys map[string]bool) []T {
	picked := make([]T, 0, len(keys))
	for key := range keys {
		picked = append(picked, r.items[key])
	}
	return picked
}

// Index returns the objects that share a value with obj.
func (r *Reference[T]) Index(name string, obj T) ([]T, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.indexers[name] == nil {
		return nil, &indexer.UnknownIndexError{Index: name}
	}
	key, err := r.key(obj)
	if err != nil {
		key = fmt.Sprint(obj)
	}
	values, err := r.values(name, key, obj)
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for _, value := range values {
		maps.Copy(keys, r.indices[name][value])
	}
	return r.pickLocked(keys), nil
}

// ByIndex returns the objects that have the value.
func (r *Reference[T]) ByIndex(name, value string) ([]T, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.indexers[name] == nil {
		return nil, &indexer.UnknownIndexError{Index: name}
	}
	return r.pickLocked(r.indices[name][value]), nil
}

// IndexKeys returns the keys of the objects that have the value, sorted.
func (r *Reference[T]) IndexKeys(name, value string) ([]string, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.indexers[name] == nil {
		return nil, &indexer.UnknownIndexError{Index: name}
	}
	return slices.Sorted(maps.Keys(r.indices[name][value])), nil
}

// ListIndexFuncValues returns the values that occur.
func (r *Reference[T]) ListIndexFuncValues(name string) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.AppendSeq([]string{}, maps.Keys(r.indices[name]))
}

// GetIndexers returns the index functions.
func (r *Reference[T]) GetIndexers() indexer.Indexers[T] {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.indexers)
}

// AddIndexers adds indexes.
func (r *Reference[T]) AddIndexers(added indexer.Indexers[T]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := slices.Sorted(maps.Keys(added))
	taken := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return r.indexers[name] == nil })
	if len(taken) > 0 {
		return &indexer.IndexerConflictError{Names: taken}
	}
	for _, name := range names {
		r.indexers[name] = added[name]
		r.indices[name] = map[string]map[string]bool{}
	}
	return r.indexItemsLocked(names)
}

// ResourceVersion returns the version of the store.
func (r *Reference[T]) ResourceVersion() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.resourceVersion
}

// Bookmark moves the version.
func (r *Reference[T]) Bookmark(resourceVersion string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resourceVersion = resourceVersion
}
