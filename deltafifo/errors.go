package deltafifo

import (
	"errors"
	"fmt"
)

// ErrFIFOClosed is returned by Pop when the queue is closed and everything that it held has been
// handed out, and by Add, Update, Delete, Replace and Resync from Close on.
var ErrFIFOClosed = errors.New("deltafifo: the queue is closed")

// ErrZeroLengthDeltas is the cause of the KeyError that KeyOf returns for empty Deltas.
var ErrZeroLengthDeltas = errors.New("no deltas, so no object to take the key from")

// errUnfinished stands in for the result of a process function that never returned: it panicked
// or ended its goroutine. Only hooks see it.
var errUnfinished = errors.New("deltafifo: the process function did not return")

// KeyError: Config.KeyFunc could not say under which key Obj goes. Nothing was queued. The text
// names only the type of the object: an object can be a Secret, and texts end up in logs.
type KeyError struct {
	Obj any
	Err error
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("deltafifo: cannot compute a key for an object of type %T: %v", e.Obj, e.Err)
}

func (e *KeyError) Unwrap() error { return e.Err }

// TransformError: Config.Transform refused the object with this key. Nothing was queued.
type TransformError struct {
	Key string
	Err error
}

func (e *TransformError) Error() string {
	return fmt.Sprintf("deltafifo: cannot transform object %q: %v", e.Key, e.Err)
}

func (e *TransformError) Unwrap() error { return e.Err }

// ErrRequeue, returned by a process function (wrapped or not), asks Pop to put the deltas back.
// Err, which may be nil, is what Pop returns then. client-go had it until the informers no longer
// used it; the articles on its older versions describe it.
type ErrRequeue struct {
	Err error
}

func (e *ErrRequeue) Error() string {
	if e.Err == nil {
		return "deltafifo: the process function asked for the item to be put back"
	}
	return e.Err.Error()
}

func (e *ErrRequeue) Unwrap() error { return e.Err }
