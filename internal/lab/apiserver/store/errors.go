package store

import (
	"errors"
	"fmt"
)

// ErrDropped tells the watchers and writers of a collection that it has been dropped as a whole.
var ErrDropped = errors.New("store: the collection was dropped")

// ExistsError is returned by Create when the key is taken.
type ExistsError struct {
	Prefix string
	Key    Key
	// Current is the object that stands there.
	Current *Object
}

// Error names the key.
func (e *ExistsError) Error() string { return fmt.Sprintf("store: %s/%s exists", e.Prefix, e.Key) }

// ExpiredError says that the history that is needed is not kept any more: list again.
type ExpiredError struct {
	Prefix string
	// Version is what was asked for, Oldest the oldest version that can be had.
	Version, Oldest uint64
}

// Error names both versions.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("store: %s: version %d is too old, history begins at %d", e.Prefix, e.Version, e.Oldest)
}

// FutureError says that a version has not been written yet.
type FutureError struct {
	// Version is what was asked for, Current the latest there is.
	Version, Current uint64
}

// Error names both versions.
func (e *FutureError) Error() string {
	return fmt.Sprintf("store: version %d is in the future, the latest is %d", e.Version, e.Current)
}

// KeyError says that a draft cannot be stored under its key. It is a mistake of the caller, who checks names.
type KeyError struct {
	Key    Key
	Reason string
}

// Error names key and reason.
func (e *KeyError) Error() string { return fmt.Sprintf("store: %q: %s", e.Key.String(), e.Reason) }

// EncodingError says that a draft holds something that JSON cannot say.
type EncodingError struct {
	Key   Key
	Cause error
}

// Error names key and cause.
func (e *EncodingError) Error() string { return fmt.Sprintf("store: %q: %v", e.Key.String(), e.Cause) }

// Unwrap returns the cause.
func (e *EncodingError) Unwrap() error { return e.Cause }
