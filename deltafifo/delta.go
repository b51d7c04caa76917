package deltafifo

import (
	"errors"
	"fmt"
)

// DeltaType is the kind of a change. The values are client-go's.
type DeltaType string

const (
	// Added: a watch reported a new object. The consumer may hold it already, because a watch
	// without a start position reports every existing object as added; the store decides.
	Added DeltaType = "Added"
	// Updated: a watch reported a change.
	Updated DeltaType = "Updated"
	// Deleted: a watch reported a deletion, or a list no longer holds the object (see Tombstone).
	Deleted DeltaType = "Deleted"
	// Replaced: a fresh list holds the object, changed or not.
	Replaced DeltaType = "Replaced"
	// Sync: a resync repeats the known state.
	Sync DeltaType = "Sync"
)

// DeletedFinalStateUnknown, the tombstone, stands for a deletion that no watch reported: the
// connection was down, and afterwards the object was no longer listed. It also stands for a
// reported one whose object Transform refused. Obj is the last known state, or the zero value if
// the store could not find one.
type DeletedFinalStateUnknown[T any] struct {
	Key string
	Obj T
}

// Delta is one change of one object.
type Delta[T any] struct {
	Type DeltaType
	// Object is the state after the change; for Deleted the last state before it.
	Object T
	// Tombstone is set for a deletion whose final state is unknown. Object is Tombstone.Obj.
	Tombstone *DeletedFinalStateUnknown[T]
}

// Tombstone returns the Deleted delta for an object whose final state is unknown.
func Tombstone[T any](key string, lastSeen T) Delta[T] {
	return Delta[T]{Type: Deleted, Object: lastSeen, Tombstone: &DeletedFinalStateUnknown[T]{Key: key, Obj: lastSeen}}
}

// Deltas are the changes of one object since a consumer last took it, oldest first. Deltas that Pop
// hands out are never empty.
type Deltas[T any] []Delta[T]

// Newest returns the last delta, and false if there is none.
func (d Deltas[T]) Newest() (Delta[T], bool) {
	if len(d) == 0 {
		return Delta[T]{}, false
	}
	return d[len(d)-1], true
}

// Types returns the delta types, oldest first, for people: a tombstone's has the mark †.
func (d Deltas[T]) Types() []DeltaType {
	types := make([]DeltaType, len(d))
	for i := range d {
		if types[i] = d[i].Type; d[i].Tombstone != nil {
			types[i] += "†"
		}
	}
	return types
}

// ErrFIFOClosed is returned by Pop when the queue is closed and empty, and by Add, Update, Delete,
// Replace and Resync after Close.
var ErrFIFOClosed = errors.New("deltafifo: the queue is closed")

// ErrUnfinished is what hooks get if a process function panicked or ended its goroutine.
var ErrUnfinished = errors.New("deltafifo: the process function did not return")

// KeyError reports that Config.KeyFunc returned no key for Obj. Nothing was queued. The text
// contains only the type of the object, because an object may be a Secret and texts end up in logs.
type KeyError struct {
	Obj any
	Err error
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("deltafifo: cannot compute a key for an object of type %T: %v", e.Obj, e.Err)
}

func (e *KeyError) Unwrap() error { return e.Err }

// TransformError reports that Config.Transform refused the object. Nothing was queued but a
// tombstone, if the object was deleted.
type TransformError struct {
	Key string
	Err error
}

func (e *TransformError) Error() string {
	return fmt.Sprintf("deltafifo: cannot transform object %q: %v", e.Key, e.Err)
}

func (e *TransformError) Unwrap() error { return e.Err }

// ErrRequeue, returned by a process function (wrapped or not), makes Pop put the deltas back and
// return Err, which may be nil. client-go removed it when its informers no longer used it; articles
// on older versions describe it.
type ErrRequeue struct{ Err error }

func (e *ErrRequeue) Error() string {
	if e.Err == nil {
		return "deltafifo: the process function asked for the item to be put back"
	}
	return e.Err.Error()
}

func (e *ErrRequeue) Unwrap() error { return e.Err }
