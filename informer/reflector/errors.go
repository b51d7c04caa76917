package reflector

import (
	"errors"
	"fmt"
)

// Reasons for which the Reflector itself gives up on an answer, wrapped by the errors of the phase.
var (
	// ErrNoResourceVersion: a list came without a resource version, so no watch can follow it.
	ErrNoResourceVersion = errors.New("the list has no resourceVersion")
	// ErrRepeatedContinue: a list answered with the continue token that it was asked with, and would never end.
	ErrRepeatedContinue = errors.New("the list repeats its continue token")
	// ErrListTimeout: a list request was not answered in time.
	ErrListTimeout = errors.New("the list takes too long")
	// ErrVeryShortWatch: a watch ended within a second and had delivered no change.
	ErrVeryShortWatch = errors.New("very short watch: it ended within a second and brought no change")
	// ErrIdle: the other side was silent for too long.
	ErrIdle = errors.New("nothing was received for too long")
	// ErrNoInitialBookmark: a streaming list did not say in time, or not before it ended, where its initial events end.
	ErrNoInitialBookmark = errors.New("the streaming list did not mark the end of its initial events")
)

// ListError says that the state could not be listed.
type ListError struct {
	Name            string // of the Reflector
	ResourceVersion string // that was asked for
	Page            int    // the page that failed, from 1
	Err             error
}

func (e *ListError) Error() string {
	return fmt.Sprintf("failed to list %s at resourceVersion %q (page %d): %v", e.Name, e.ResourceVersion, e.Page, e.Err)
}

// Unwrap returns the cause.
func (e *ListError) Unwrap() error { return e.Err }

// WatchStartError says that a watch, or a streaming list, could not be opened.
type WatchStartError struct {
	Name            string
	ResourceVersion string // the position that was asked for
	Streaming       bool   // it was to be a streaming list
	Err             error
}

func (e *WatchStartError) Error() string {
	what := "watch"
	if e.Streaming {
		what = "streaming list"
	}
	return fmt.Sprintf("failed to open a %s of %s at resourceVersion %q: %v", what, e.Name, e.ResourceVersion, e.Err)
}

// Unwrap returns the cause.
func (e *WatchStartError) Unwrap() error { return e.Err }

// StreamError says that an open watch, or a streaming list, ended badly: with an ERROR event (then it wraps an
// *api.StatusError), with a broken connection, or because the Reflector gave it up.
type StreamError struct {
	Name            string
	ResourceVersion string // the position that was reached
	Streaming       bool   // its initial events were still awaited
	Err             error
}

func (e *StreamError) Error() string {
	what := "watch"
	if e.Streaming {
		what = "streaming list"
	}
	return fmt.Sprintf("the %s of %s ended at resourceVersion %q: %v", what, e.Name, e.ResourceVersion, e.Err)
}

// Unwrap returns the cause.
func (e *StreamError) Unwrap() error { return e.Err }

// StoreOp names a call of a [Store].
type StoreOp string

// The calls of a Store. OpKey is not one: it is the key function that failed while a streaming list was collected.
const (
	OpAdd     StoreOp = "Add"
	OpUpdate  StoreOp = "Update"
	OpDelete  StoreOp = "Delete"
	OpReplace StoreOp = "Replace"
	OpResync  StoreOp = "Resync"
	OpKey     StoreOp = "Key"
)

// StoreError says that the store did not take something.
type StoreError struct {
	Name            string
	Op              StoreOp
	ResourceVersion string // of the object or the list
	Err             error
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("the store of %s failed to %s at resourceVersion %q: %v", e.Name, e.Op, e.ResourceVersion, e.Err)
}

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// PanicError carries a panic from the goroutine that keeps the time to the one that called Run, which panics with
// it. A panic on Run's own goroutine is left as it is.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("%v\n\n%s", e.Value, e.Stack) }
