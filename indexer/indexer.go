package indexer

import (
	"sync"
	"sync/atomic"
)

// Config describes a store. Only KeyFunc is required.
type Config[T any] struct {
	// KeyFunc names an object: "namespace/name", or "name". Objects of the same
	// key replace each other. It must always answer the same for an object.
	KeyFunc func(T) (string, error)

	// Indexers are the indexes that the store begins with. More can be added
	// with AddIndexers at any time.
	Indexers Indexers[T]

	// ResourceVersionFunc tells the version of an object, so that
	// ResourceVersion moves with every write. Nil: it moves with Replace and
	// Bookmark only.
	ResourceVersionFunc func(T) string

	// Trace is told of writes. Nil: nobody is.
	Trace *Trace
}

// Indexer is a store of objects by key with any number of indexes.
//
//	keys      "default/web-1" ──> object
//	indexes   "namespace" ──> "default" ──> objects      (Indexers: name -> function
//	          "node"      ──> "n1"      ──> objects       Indices: name -> value -> objects)
//
// To look up one object: GetByKey. To look at all: All, or List if a slice is
// needed. To find objects by a value: ByIndex. To find the relatives of an
// object: Index. To change the store: Add, Update, Delete, Replace.
//
// All methods may be called from any goroutine. Writers take turns. Readers
// wait for nobody but, at most, for the end of one write in progress, and make
// nobody wait: a List of 100,000 objects does not hold up the event stream.
//
// A write that has returned is seen by every read that begins afterwards, and
// a read that has seen a write is followed by reads that see it as well. What
// a read returns is the state at one moment: List never mixes the content
// before and after a write or a Replace.
//
// Objects are shared with everybody else who reads the store. DO NOT CHANGE
// THEM, see the package documentation.
type Indexer[T any] struct {
	config Config[T] // set by New

	// generation is replaced under mu and read without it.
	generation atomic.Pointer[generation[T]]
	// resourceVersion is replaced under mu and read without it.
	resourceVersion atomic.Pointer[string]

	mu sync.Mutex // writers take turns; readers do not take it
}

// New returns an empty store. It panics if there is no KeyFunc.
func New[T any](config Config[T]) *Indexer[T] {
	if config.KeyFunc == nil {
		panic("indexer.New: Config.KeyFunc is required")
	}
	x := &Indexer[T]{config: config}
	x.config.Indexers = nil // the definitions hold them
	x.generation.Store(newGeneration(newDefinitions(config.Indexers), 0))
	x.resourceVersion.Store(new(string))
	return x
}

// key asks the key function.
func (x *Indexer[T]) key(obj T) (string, error) {
	key, err := x.config.KeyFunc(obj)
	if err != nil {
		return "", &KeyError{Object: obj, Err: err}
	}
	return key, nil
}

// ResourceVersion is the version up to which the store has been brought: the
// last one given to Replace or Bookmark, or, if the store was given a
// ResourceVersionFunc, that of the object written last. It is empty at first.
func (x *Indexer[T]) ResourceVersion() string { return *x.resourceVersion.Load() }

// Bookmark notes that nothing has changed up to resourceVersion: the server
// has sent a bookmark event.
func (x *Indexer[T]) Bookmark(resourceVersion string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.resourceVersion.Store(&resourceVersion)
}

// versionOf asks the version function, before the lock is taken since it is the
// user's. Nil means that the version does not move.
func (x *Indexer[T]) versionOf(obj T) *string {
	if x.config.ResourceVersionFunc == nil {
		return nil
	}
	version := x.config.ResourceVersionFunc(obj)
	return &version
}

func (x *Indexer[T]) setVersionLocked(version *string) {
	if version != nil {
		x.resourceVersion.Store(version)
	}
}
