package store

import (
	"errors"
	"fmt"
)

// ErrDropped is returned to the watchers and writers of a dropped collection.
var ErrDropped = errors.New("store: collection dropped")

// ExistsError is returned by Create when the key is taken.
type ExistsError struct {
	Prefix string
	Key    Key
	// Current is the object with the key.
	Current *Object
}

func (e *ExistsError) Error() string { return fmt.Sprintf("store: %s/%s exists", e.Prefix, e.Key) }

// ExpiredError reports that the history needed is no longer kept. The client must list again.
type ExpiredError struct {
	Prefix string
	// Version is the requested version, Oldest the oldest available one.
	Version, Oldest uint64
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("store: %s: version %d is too old, history begins at %d", e.Prefix, e.Version, e.Oldest)
}

// FutureError reports a version that has not been written yet.
type FutureError struct {
	// Version is the requested version, Current the latest one.
	Version, Current uint64
}

func (e *FutureError) Error() string {
	return fmt.Sprintf("store: version %d is in the future, the latest is %d", e.Version, e.Current)
}

// KeyError reports a draft that cannot be stored under its key. It is a bug of the caller, which
// validates names.
type KeyError struct {
	Key    Key
	Reason string
}

func (e *KeyError) Error() string { return fmt.Sprintf("store: %q: %s", e.Key.String(), e.Reason) }

// EncodingError reports a draft that cannot be encoded as JSON.
type EncodingError struct {
	Key   Key
	Cause error
}

func (e *EncodingError) Error() string { return fmt.Sprintf("store: %q: %v", e.Key.String(), e.Cause) }

func (e *EncodingError) Unwrap() error { return e.Cause }
