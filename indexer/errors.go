package indexer

import (
	"fmt"
	"strings"
)

// KeyError says that the key function failed for an object. The store has not
// changed.
type KeyError struct {
	Object any
	Err    error
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("no key for object of type %T: %v", e.Object, e.Err)
}

func (e *KeyError) Unwrap() error { return e.Err }

// IndexError says that an index function failed for an object. The object is
// in the store all the same, and in all indexes but this one. Repairing the
// function and writing the object again brings it into the index.
type IndexError struct {
	Index string // name of the index
	Key   string // key of the object
	Err   error  // what the function returned, or a *PanicError
}

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %q: no values for %q: %v", e.Index, e.Key, e.Err)
}

func (e *IndexError) Unwrap() error { return e.Err }

// PanicError says that an index function panicked.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine, the panicking call included
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// IndexErrors are several index errors of one call. errors.As finds the first
// of them as an [*IndexError].
type IndexErrors struct {
	First []*IndexError // at most ten, so that a broken function does not fill memory
	Total int           // how many there were
}

const keptIndexErrors = 10

func (e *IndexErrors) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d index errors: ", e.Total)
	for i, err := range e.First {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(err.Error())
	}
	if e.Total > len(e.First) {
		b.WriteString("; ...")
	}
	return b.String()
}

func (e *IndexErrors) Unwrap() []error {
	all := make([]error, 0, len(e.First))
	for _, err := range e.First {
		all = append(all, err)
	}
	return all
}

// add counts an error. It works on a nil receiver, which is "no errors", so
// that the usual write allocates nothing.
func (e *IndexErrors) add(err *IndexError) *IndexErrors {
	if e == nil {
		e = &IndexErrors{}
	}
	if e.Total++; len(e.First) < keptIndexErrors {
		e.First = append(e.First, err)
	}
	return e
}

// orNil turns the collection into what a method returns: nil, the only error,
// or all of them.
func (e *IndexErrors) orNil() error {
	switch {
	case e == nil:
		return nil
	case e.Total == 1:
		return e.First[0]
	default:
		return e
	}
}

// UnknownIndexError says that the store has no index of that name.
type UnknownIndexError struct{ Index string }

func (e *UnknownIndexError) Error() string {
	return fmt.Sprintf("index %q does not exist", e.Index)
}

// IndexerConflictError says that AddIndexers was given names that the store
// has already. Nothing was added.
type IndexerConflictError struct{ Names []string } // sorted

func (e *IndexerConflictError) Error() string {
	return fmt.Sprintf("indexer conflict: %q", e.Names)
}
