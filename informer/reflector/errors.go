package reflector

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"orrery/restclient/api"
)

// Reasons for which the Reflector rejects an answer, wrapped by the errors of the phase.
var (
	// ErrRepeatedContinue: a list returned a continue token for the second time, and would never end.
	ErrRepeatedContinue = errors.New("the list repeats its continue token")
	// ErrListTooLong: a list has more items than Config.MaxItems, or page after page without items.
	ErrListTooLong = errors.New("the list has too many items, or too many pages without items")
	// ErrListTimeout: a list request was not answered in time.
	ErrListTimeout = errors.New("the list takes too long")
	// ErrVeryShortWatch: a watch ended within a second, without progress or as the one before.
	ErrVeryShortWatch = errors.New("very short watch: it ended within a second")
	// ErrIdle: the server was silent for too long.
	ErrIdle = errors.New("nothing was received for too long")
	// ErrNoInitialBookmark: a streaming list did not mark the end of its initial events in time, or
	// before it ended.
	ErrNoInitialBookmark = errors.New("the streaming list did not mark the end of its initial events")
)

// ListError reports a failed list.
type ListError struct {
	Name            string // of the Reflector
	ResourceVersion string // the requested version
	Page            int    // the page that failed, from 1
	Err             error
}

func (e *ListError) Error() string {
	return fmt.Sprintf("failed to list %s at resourceVersion %q (page %d): %v", e.Name, e.ResourceVersion,
		e.Page, e.Err)
}

func (e *ListError) Unwrap() error { return e.Err }

// WatchStartError reports a watch, or a streaming list, that could not be opened.
type WatchStartError struct {
	Name            string
	ResourceVersion string // the requested position
	Streaming       bool   // it was a streaming list
	Err             error
}

func (e *WatchStartError) Error() string {
	return fmt.Sprintf("failed to open a %s of %s at resourceVersion %q: %v", streamName(e.Streaming), e.Name,
		e.ResourceVersion, e.Err)
}

func (e *WatchStartError) Unwrap() error { return e.Err }

// StreamError reports that an open watch, or a streaming list, failed: by an ERROR event (then it
// wraps an *api.StatusError), by a broken connection, or because the Reflector closed it.
type StreamError struct {
	Name            string
	ResourceVersion string // the position reached
	Streaming       bool   // its initial events were incomplete
	Err             error
}

func (e *StreamError) Error() string {
	return fmt.Sprintf("the %s of %s ended at resourceVersion %q: %v", streamName(e.Streaming), e.Name,
		e.ResourceVersion, e.Err)
}

func (e *StreamError) Unwrap() error { return e.Err }

func streamName(streaming bool) string {
	if streaming {
		return "streaming list"
	}
	return "watch"
}

// EventError returns the error of an ERROR event.
func EventError(status *api.Status) error {
	if status == nil {
		status = &api.Status{Message: "an ERROR event without a status"}
	}
	return api.NewStatusError(*status)
}

// StoreOp names a call of a [Store].
type StoreOp string

// The calls of a Store. OpKey is none: it is the key function that failed while a streaming list
// was collected.
const (
	OpAdd     StoreOp = "Add"
	OpUpdate  StoreOp = "Update"
	OpDelete  StoreOp = "Delete"
	OpReplace StoreOp = "Replace"
	OpResync  StoreOp = "Resync"
	OpKey     StoreOp = "Key"
)

// StoreError reports a failed call of the store.
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

// Cause is the meaning of an error for a Reflector.
type Cause int

// The causes, in the order in which [CauseOf] checks them.
const (
	CauseUnknown         Cause = iota // any other error: an answer that cannot be decoded, or that only the HTTP client knows
	CauseOther                        // any other Status of the server; the complete state must be fetched
	CauseExpired                      // 410, by the reason Expired, the reason Gone or the bare code: the position is lost
	CauseTooLarge                     // the server has not reached the position yet; a more recent one was used before
	CauseTooManyRequests              // overload, by a 429, or by a 5xx with Retry-After; the position is not refused
	CauseRefused                      // 400, 405, 406, 415, 422: the server does not support the request
	CauseInternal                     // 500: the server failed
	CauseEnded                        // the server ended the stream normally
	CauseUnreachable                  // no answer, or a connection that broke; the position is not refused
	causeCount
)

var causeNames = [causeCount]string{"Unknown", "Other", "Expired", "TooLarge", "TooManyRequests", "Refused", "Internal",
	"Ended", "Unreachable"}

func (c Cause) String() string { return causeNames[c] }

// CauseOf classifies an error of a list or a watch. A WatchErrorHandler may use it to ignore
// ordinary errors (an expired position).
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
	case api.ReasonInvalid, api.ReasonBadRequest, api.ReasonMethodNotAllowed, api.ReasonNotAcceptable,
		api.ReasonUnsupportedMediaType:
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

// unreachable is an error of a client that knows whether the server was unreachable or the
// connection broke. That is better than the wrapped errors: a missing token file is a
// syscall.Errno, too.
type unreachable interface {
	error
	Unreachable() bool
}

// isNetworkError reports whether err comes from the connection. The HTTP client says so
// (restclient.TransportError). Other clients wrap a net.Error; the bare values occur when a body is
// read.
func isNetworkError(err error) bool {
	if reported, ok := errors.AsType[unreachable](err); ok {
		return reported.Unreachable()
	}
	var network net.Error
	var errno syscall.Errno
	return errors.As(err, &network) || errors.As(err, &errno) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed)
}
