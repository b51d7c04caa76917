package indexer

import "iter"

// GetByKey returns the object of key, and whether there is one.
func (x *Indexer[T]) GetByKey(key string) (obj T, exists bool) {
	rec := x.generation.Load().find(key)
	if rec == nil {
		return obj, false
	}
	return rec.obj.load(), true
}

// Get returns the stored object with the key of obj, and whether there is one.
// An obj for which the key function fails is not in the store.
func (x *Indexer[T]) Get(obj T) (stored T, exists bool) {
	key, err := x.key(obj)
	if err != nil {
		return stored, false
	}
	return x.GetByKey(key)
}

// List returns all objects, in no order. The slice is the caller's, the
// objects are not. To look at them without building a slice use All.
func (x *Indexer[T]) List() []T {
	return x.generation.Load().objects.snapshot().elements()
}

// All yields all keys and objects as they are when the iteration begins, in no
// order. The loop may take its time, and may write to the store, which does
// not change what the loop sees.
func (x *Indexer[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for rec, obj := range x.generation.Load().objects.snapshot().all() {
			if !yield(rec.key, obj) {
				return
			}
		}
	}
}

// ListKeys returns all keys, in no order. The slice is the caller's.
func (x *Indexer[T]) ListKeys() []string {
	return keys(x.generation.Load().objects.snapshot())
}

// Len returns the number of objects.
func (x *Indexer[T]) Len() int { return x.generation.Load().records.len() }
