package indexer

import (
	"fmt"
	"strings"
)

// KeyError reports that the key function failed for an object. The store has not changed.
type KeyError struct {
	Object any
	Err    error
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("no key for object of type %T: %v", e.Object, e.Err)
}

func (e *KeyError) Unwrap() error { return e.Err }

// IndexError reports that an index function failed for an object. The object is in the store and
// in all indexes but this one. A later write of the object brings it into the index.
type IndexError struct {
	Index string // name of the index
	Key   string // key of the object
	Err   error  // the function's error, or a *PanicError
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %q: no values for %q: %v", e.Index, e.Key, e.Err)
}

func (e *IndexError) Unwrap() error { return e.Err }

// PanicError reports that an index function panicked. It is this package's wait.Panic: the package
// does not import wait, which is on the same floor.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine, including the panicking call
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// IndexErrors are the index errors of one call.
type IndexErrors struct {
	First []*IndexError // at most ten, to bound the memory if a function fails for every object
	Total int           // how many there were
}

const keptIndexErrors = 10

func (e *IndexErrors) Error() string {
	texts := make([]string, 0, len(e.First)+1)
	for _, err := range e.First {
		texts = append(texts, err.Error())
	}
	if e.Total > len(e.First) {
		texts = append(texts, "...")
	}
	return fmt.Sprintf("%d index errors: %s", e.Total, strings.Join(texts, "; "))
}

// Unwrap returns First, so errors.As finds an [*IndexError].
func (e *IndexErrors) Unwrap() []error {
	all := make([]error, 0, len(e.First))
	for _, err := range e.First {
		all = append(all, err)
	}
	return all
}

// Add adds an error and returns the collection. A nil receiver is an empty collection, so a write
// without errors allocates nothing.
func (e *IndexErrors) Add(index, key string, err error) *IndexErrors {
	if e == nil {
		e = &IndexErrors{}
	}
	if e.Total++; len(e.First) < keptIndexErrors {
		e.First = append(e.First, &IndexError{Index: index, Key: key, Err: err})
	}
	return e
}

// UnknownIndexError reports that the store has no index of this name.
type UnknownIndexError struct{ Index string }

func (e *UnknownIndexError) Error() string { return fmt.Sprintf("index %q does not exist", e.Index) }

// IndexerConflictError reports that names passed to AddIndexers exist. Nothing was added.
type IndexerConflictError struct{ Names []string } // sorted

func (e *IndexerConflictError) Error() string { return fmt.Sprintf("indexer conflict: %q", e.Names) }
