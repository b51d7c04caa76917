package indexer

import (
	"iter"
	"maps"
	"runtime/debug"
	"slices"
)

// Interface is a store of objects by key with any number of indexes. Everything that uses a store
// holds one of these; [New] returns the textbook form and package fast the fast one.
//
// All methods may be called from any goroutine. Writers take turns. A write that has returned is
// seen by every read that begins afterwards. A read returns the state at one moment: List never
// mixes the content before and after a write or a Replace, and what it returned does not change.
//
// Slices and maps that are returned are the caller's own. Objects are shared with every other
// reader of the store: DO NOT CHANGE THEM, see the package documentation.
//
// A call through Interface costs a nanosecond at most: GetByKey of the fast form takes 9.5 ns in place
// of 8.8 with everything in the processor's caches, and for Put (30 ns) no difference can be measured.
type Interface[T any] interface {
	// Add stores obj in place of the object with the same key, if there is one, and updates every
	// index. Update is Add: the two names are those of the events that lead to the call.
	//
	// The error is a [*KeyError] if the object has no key; then nothing has changed. It is an
	// [*IndexError], or [*IndexErrors], if index functions failed or panicked; then the object is
	// stored and is in all other indexes.
	Add(obj T) error
	Update(obj T) error
	// Put is Add for callers that know the key, such as the consumer of a DeltaFIFO: the key
	// function is not called. key must be what it would return. Put returns the object that had
	// the key before and whether there was one.
	Put(key string, obj T) (old T, existed bool, err error)
	// Delete removes the object with the key of obj; a missing one is not an error. The error is a
	// [*KeyError].
	Delete(obj T) error
	// DeleteKey removes the object with this key, if there is one.
	DeleteKey(key string)
	// Replace makes items the whole content, at one moment for all readers. Of items with the same
	// key the last one counts. The items slice is not kept. resourceVersion is for the Trace; the
	// reflector knows the version of the collection. Errors are those of Add.
	Replace(items []T, resourceVersion string) error
	// Resync does nothing. Stores in front of handlers, such as a DeltaFIFO, redeliver here.
	Resync() error

	// Get returns the stored object with the key of obj and whether there is one. If the key
	// function fails for obj there is none.
	Get(obj T) (stored T, exists bool)
	// GetByKey returns the object with this key and whether there is one.
	GetByKey(key string) (obj T, exists bool)
	// List returns all objects, in no order.
	List() []T
	// All iterates over all keys and objects as they are when the iteration begins, in no order.
	// The loop may write to the store without changing what the loop sees.
	All() iter.Seq2[string, T]
	// ListKeys returns all keys, in no order.
	ListKeys() []string
	// Len returns the number of objects.
	Len() int

	// Index returns the objects that share a value of the named index with obj, in no order, each
	// once. obj need not be in the store. The error is an [*UnknownIndexError], or an
	// [*IndexError] if the index function fails for obj.
	Index(name string, obj T) ([]T, error)
	// ByIndex returns the objects that have the value in the named index, in no order. The error
	// is an [*UnknownIndexError].
	ByIndex(name, value string) ([]T, error)
	// IndexKeys returns the keys of the objects that have the value in the named index, sorted.
	// The error is an [*UnknownIndexError].
	IndexKeys(name, value string) ([]string, error)
	// ListIndexFuncValues returns the values that occur in the named index, in no order. It
	// returns none if there is no such index.
	ListIndexFuncValues(name string) []string
	// GetIndexers returns the index functions by name.
	GetIndexers() Indexers[T]
	// AddIndexers adds indexes and indexes the objects in the store before it returns.
	//
	// The error is an [*IndexerConflictError] if a name is taken; then nothing was added. It is an
	// [*IndexError] or [*IndexErrors] if functions failed; then the indexes exist without the
	// objects concerned.
	AddIndexers(added Indexers[T]) error

	// Snapshot returns the store as plain data, as it is at one moment. It is for a debug page
	// or a test, not for regular work: it costs a multiple of List.
	Snapshot() Snapshot
}

// Config describes a store. Only KeyFunc is required.
type Config[T any] struct {
	// KeyFunc returns the key of an object: "namespace/name", or "name". Objects with the same
	// key replace each other. It must always return the same key for an object.
	KeyFunc func(T) (string, error)

	// Indexers are the indexes that the store begins with. AddIndexers adds more at any time.
	Indexers Indexers[T]

	// Trace receives the store's writes. Nil: none.
	Trace *Trace
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

// Names returns the names of the indexes, sorted.
func (i Indexers[T]) Names() []string { return slices.Sorted(maps.Keys(i)) }

// IndexFunc returns the values under which an index finds an object: a pod's node, an object's
// owners, its namespace. It may return none; repeated ones count once. It must depend on nothing
// but the object, must not change it, and must not write to the store.
type IndexFunc[T any] func(obj T) ([]string, error)

// Values calls f and returns either its values or its error, a panic as a [*PanicError]. The
// function belongs to a user and the goroutine usually to an informer, where a panic would end
// the events for all handlers.
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
