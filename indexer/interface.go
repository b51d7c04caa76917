package indexer

import (
	"iter"
	"runtime/debug"
)

// Interface is a store of objects by key with any number of indexes. [New] returns the textbook
// form and package fast the fast one.
//
// All methods are safe for concurrent use. Returned slices and maps belong to the caller. Objects
// are shared with every other reader of the store: DO NOT CHANGE THEM, see the package
// documentation, which also has the guarantees.
//
// A call through Interface costs at most a nanosecond: GetByKey of the fast form takes 9.5 ns
// instead of 8.8 with everything in the processor's caches.
//
// # Guarantees
//
//   - Every read returns the state at one moment between its call and its return. A List never
//     shows half of a Replace, and what a read has returned does not change.
//   - Every read that begins after a write has returned sees that write.
//   - A failing index function affects only its own index and one object: the object is stored,
//     found by key and by all other indexes, and no stale entry remains. (client-go panics, on the
//     informer's goroutine, with the store half updated.)
//   - A value without objects takes no memory.
//   - Add and Update are the same: the store decides by the key.
//
// # Goroutines
//
// The package starts none. All methods are safe for concurrent use; writers are serialized. Key
// functions, index functions and hooks run on the caller's goroutine. Index functions must not call
// the store, which may hold its lock. Hooks run without a lock and may call it.
//
// # Failure
//
// [*KeyError], [*IndexError] and [*IndexErrors], [*PanicError], [*UnknownIndexError],
// [*IndexerConflictError]; use errors.As. A KeyError means that nothing has changed, an IndexError
// that everything is stored; a panic of an index function becomes one.
type Interface[T any] interface {
	// Add stores obj, replacing an object with the same key, and updates every index. Update does
	// the same: there is one name for each event.
	//
	// The error is a [*KeyError] if the object has no key; then nothing has changed. It is an
	// [*IndexError] or [*IndexErrors] if index functions failed or panicked; then the object is
	// stored and is in all other indexes.
	Add(obj T) error
	Update(obj T) error
	// Put is Add for callers that know the key, such as the consumer of a DeltaFIFO: it does not
	// call the key function. key must be the key of obj. Put returns the previous object with this
	// key, if any.
	Put(key string, obj T) (old T, existed bool, err error)
	// Delete removes the object with the key of obj; a missing one is not an error. The error is a
	// [*KeyError].
	Delete(obj T) error
	// DeleteKey removes the object with this key, if there is one.
	DeleteKey(key string)
	// Replace makes items the whole content, atomically for all readers. Of items with the same key
	// the last one wins. The items slice is not kept. resourceVersion is for the Trace only. Errors
	// are those of Add.
	Replace(items []T, resourceVersion string) error
	// Resync does nothing. Queues with the same method, such as a DeltaFIFO, redeliver here.
	Resync() error

	// Get returns the stored object with the key of obj, if any. If the key function fails for obj,
	// there is none.
	Get(obj T) (stored T, exists bool)
	// GetByKey returns the object with this key, if any.
	GetByKey(key string) (obj T, exists bool)
	// List returns all objects, in undefined order.
	List() []T
	// All iterates over all keys and objects as of the start of the iteration, in undefined order.
	// The loop may write to the store without changing what it sees.
	All() iter.Seq2[string, T]
	// ListKeys returns all keys, in undefined order.
	ListKeys() []string
	// Len returns the number of objects.
	Len() int

	// Index returns the objects that share a value of the named index with obj, each once, in
	// undefined order. obj need not be in the store. The error is an [*UnknownIndexError], or an
	// [*IndexError] if the index function fails for obj.
	Index(name string, obj T) ([]T, error)
	// ByIndex returns the objects that have the value in the named index, in undefined order. The
	// error is an [*UnknownIndexError].
	ByIndex(name, value string) ([]T, error)
	// IndexKeys returns the keys of the objects that have the value in the named index, sorted.
	// The error is an [*UnknownIndexError].
	IndexKeys(name, value string) ([]string, error)
	// ListIndexFuncValues returns the values in the named index, in undefined order, or none if
	// there is no such index.
	ListIndexFuncValues(name string) []string
	// GetIndexers returns the index functions by name.
	GetIndexers() Indexers[T]
	// AddIndexers adds indexes and indexes the objects in the store before it returns.
	//
	// The error is an [*IndexerConflictError] if a name exists already; then nothing was added. It
	// is an [*IndexError] or [*IndexErrors] if functions failed; then the indexes exist without the
	// objects concerned.
	AddIndexers(added Indexers[T]) error

	// Snapshot returns the content of the store as plain data. It is for debug pages and tests: it
	// costs a multiple of List.
	Snapshot() Snapshot
}

// Config configures a store. Only KeyFunc is required.
type Config[T any] struct {
	// KeyFunc returns the key of an object: "namespace/name", or "name". Objects with the same
	// key replace each other. It must always return the same key for an object.
	KeyFunc  func(T) (string, error)
	Indexers Indexers[T] // the initial indexes; AddIndexers adds more at any time
	Trace    *Trace      // observes the store's writes
}

// Key returns the key of obj, or a [*KeyError].
func (c *Config[T]) Key(obj T) (string, error) {
	key, err := c.KeyFunc(obj)
	if err != nil {
		return "", &KeyError{Object: obj, Err: err}
	}
	return key, nil
}

// IndexValues returns the values of obj for [Interface].Index, with the errors that Index returns.
// indexFunc is nil if the store has no index of that name.
func (c *Config[T]) IndexValues(name string, indexFunc IndexFunc[T], obj T) ([]string, error) {
	if indexFunc == nil {
		return nil, &UnknownIndexError{Index: name}
	}
	values, err := indexFunc.Values(obj)
	if err != nil {
		key, keyErr := c.KeyFunc(obj)
		if keyErr != nil {
			key = "(an object without a key)"
		}
		return nil, &IndexError{Index: name, Key: key, Err: err}
	}
	return values, nil
}

// Indexers maps the name of an index to the function that computes its values.
type Indexers[T any] map[string]IndexFunc[T]

// IndexFunc returns the values under which an index finds an object: a pod's node, an object's
// owners, its namespace. It may return none; repeated ones count once. Its result must depend only
// on the object; it must neither change the object nor write to the store.
type IndexFunc[T any] func(obj T) ([]string, error)

// Values calls f and returns its values or its error; a panic becomes a [*PanicError]. The function
// is the user's, and the goroutine is usually the informer's, where a panic would end the events
// for all handlers.
func (f IndexFunc[T]) Values(obj T) (values []string, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	if values, err = f(obj); err != nil {
		return nil, err
	}
	return values, nil
}

// Snapshot is a store as plain data, for a debug page or a test.
type Snapshot struct {
	Keys []string // sorted
	// Indices maps the name of an index to a value to the keys of its objects, sorted.
	Indices map[string]map[string][]string
}
