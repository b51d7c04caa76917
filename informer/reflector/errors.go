package reflector

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"orrery/restclient/api"
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

func (e *ListError) Unwrap() error { return e.Err }

// WatchStartError says that a watch, or a streaming list, could not be opened.
type WatchStartError struct {
	Name            string
	ResourceVersion string // the position that was asked for
	Streaming       bool   // it was to be a streaming list
	Err             error
}

func (e *WatchStartError) Error() string {
	return fmt.Sprintf("failed to open a %s of %s at resourceVersion %q: %v", streamName(e.Streaming), e.Name, e.ResourceVersion, e.Err)
}

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
	return fmt.Sprintf("the %s of %s ended at resourceVersion %q: %v", streamName(e.Streaming), e.Name, e.ResourceVersion, e.Err)
}

func (e *StreamError) Unwrap() error { return e.Err }

func streamName(streaming bool) string {
	if streaming {
		return "streaming list"
	}
	return "watch"
}

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

func (e *StoreError) Unwrap() error { return e.Err }

// Cause is what an error means to a Reflector, whatever it looked like.
type Cause int

// The causes, in the order in which [CauseOf] looks for them.
const (
	// CauseUnknown is everything that is not below: nothing that an API server says, and no known failure of a
	// connection. It may be either: an answer that cannot be decoded, or a connection that broke in a way that only the
	// HTTP client has a name for.
	CauseUnknown Cause = iota
	// CauseOther: a Status of the server that is not one of those below. It asks for a look at the whole state.
	CauseOther
	// CauseExpired (410): the server no longer has the position. The reason Expired, the reason Gone or the bare code.
	CauseExpired
	// CauseTooLarge: the server has not reached the position yet; we were served by a more recent one before.
	CauseTooLarge
	// CauseTooManyRequests: the server asks for patience, by a 429, or by a 5xx that says how long to wait
	// (Retry-After). It has not refused the position.
	CauseTooManyRequests
	// CauseRefused (400, 405, 406, 415, 422): the server does not do what was asked.
	CauseRefused
	// CauseInternal (500): the server failed.
	CauseInternal
	// CauseEnded: the server ended the stream in good order.
	CauseEnded
	// CauseUnreachable: no answer at all, or a connection that broke. It says nothing about the position either, but
	// it is certain that the server has not refused it.
	CauseUnreachable
	causeCount
)

var causeNames = [causeCount]string{"Unknown", "Other", "Expired", "TooLarge", "TooManyRequests", "Refused", "Internal", "Ended", "Unreachable"}

func (c Cause) String() string { return causeNames[c] }

// CauseOf classifies an error of a list or a watch. A WatchErrorHandler may use it to tell what deserves a line in
// a log from what is ordinary (an expired position).
func CauseOf(err error) Cause {
	switch {
	case api.IsExpired(err):
		return CauseExpired
	case api.IsTooLargeResourceVersion(err):
		return CauseTooLarge
	case api.IsTooManyRequests(err), api.CodeOf(err) >= 500 && api.RetryAfterOf(err) > 0:
		return CauseTooManyRequests
	case api.IsInternalError(err):
		return CauseInternal
	}
	switch api.ReasonOf(err) {
	case api.ReasonInvalid, api.ReasonBadRequest, api.ReasonMethodNotAllowed, api.ReasonNotAcceptable, api.ReasonUnsupportedMediaType:
		return CauseRefused
	}
	var status *api.StatusError
	switch {
	case errors.As(err, &status):
		return CauseOther
	case isNetworkError(err):
		return CauseUnreachable
	case errors.Is(err, io.EOF):
		return CauseEnded
	}
	return CauseUnknown
}

// unreachable is an error of a client that knows whether the server could not be reached or the connection broke. That is
// better than guessing by what it wraps: a missing file with a token in it is a syscall.Errno, too.
type unreachable interface {
	error
	Unreachable() bool
}

// isNetworkError reports whether err comes from the connection. The HTTP client says so (restclient.TransportError). Others
// wrap what they meet in a net.Error; the bare values occur when a body is read.
func isNetworkError(err error) bool {
	if told, ok := errors.AsType[unreachable](err); ok {
		return told.Unreachable()
	}
	var network net.Error
	var errno syscall.Errno
	return errors.As(err, &network) || errors.As(err, &errno) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed)
}

// StatusError returns the error that an ERROR event stands for.
func StatusError(status *api.Status) error {
	if status == nil {
		status = &api.Status{Message: "an ERROR event without a status"}
	}
	return api.NewStatusError(*status)
}
