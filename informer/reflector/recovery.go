package reflector

import (
	"errors"
	"io"
	"net"
	"syscall"

	"orrery/restclient/api"
)

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

// deadConnection is an error of a client that knows whether the connection had gone dead without a word.
type deadConnection interface {
	error
	Dead() bool
}

// isNetworkError tells whether err comes from the connection. The HTTP client says so (restclient.TransportError). Others
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

// Remedy is what a Reflector does about a failure.
type Remedy int

const (
	// Relist gives the round up: back off, then fetch the whole state again.
	Relist Remedy = iota
	// Resume asks again from the same position, at once.
	Resume
	// Retry backs off and asks again from the same position.
	Retry
	// StartFresh forgets the position, which the server will not accept again: the state is fetched by a
	// consistent read (resourceVersion ""). A failed list or streaming list is repeated at once, a watch after a back-off.
	StartFresh
	// FallBack gives the streaming list up and lists.
	FallBack
	remedyCount
)

var remedyNames = [remedyCount]string{"Relist", "Resume", "Retry", "StartFresh", "FallBack"}

func (r Remedy) String() string { return remedyNames[r] }

// RemedyFor is the one table that says what follows from a failure: the phase it happened in and its cause. The
// transition table refines it with what it knows beyond that: how many attempts were made, how long a watch
// lasted, which page of a list failed.
func RemedyFor(phase Phase, cause Cause) Remedy { return remedies[cause][phase] }

// Listing has no Retry and no Resume: to begin again is what Relist means. Phases without an outstanding request
// are Relist, which nobody asks for. An open watch that ends for an unknown reason is resumed: if the reason comes
// again at once, the watch was a very short one, and that leads to a list.
var remedies = [causeCount][phaseCount]Remedy{
	CauseExpired:         {PhaseOpeningStream: StartFresh, PhaseStreaming: StartFresh, PhaseListing: StartFresh, PhaseOpeningWatch: StartFresh, PhaseWatching: StartFresh},
	CauseTooLarge:        {PhaseOpeningStream: StartFresh, PhaseStreaming: StartFresh, PhaseListing: StartFresh, PhaseOpeningWatch: StartFresh, PhaseWatching: StartFresh},
	CauseTooManyRequests: {PhaseOpeningStream: Retry, PhaseStreaming: Retry, PhaseListing: Relist, PhaseOpeningWatch: Retry, PhaseWatching: Retry},
	CauseUnreachable:     {PhaseOpeningStream: Retry, PhaseStreaming: Retry, PhaseListing: Relist, PhaseOpeningWatch: Retry, PhaseWatching: Resume},
	CauseEnded:           {PhaseOpeningStream: Retry, PhaseStreaming: Retry, PhaseListing: Relist, PhaseOpeningWatch: Retry, PhaseWatching: Resume},
	CauseRefused:         {PhaseOpeningStream: FallBack, PhaseStreaming: FallBack, PhaseListing: Relist, PhaseOpeningWatch: Relist, PhaseWatching: Relist},
	CauseInternal:        {PhaseOpeningStream: FallBack, PhaseStreaming: FallBack, PhaseListing: Relist, PhaseOpeningWatch: Relist, PhaseWatching: Relist},
	CauseUnknown:         {PhaseOpeningStream: FallBack, PhaseStreaming: FallBack, PhaseListing: Relist, PhaseOpeningWatch: Relist, PhaseWatching: Resume},
	CauseOther:           {PhaseOpeningStream: FallBack, PhaseStreaming: FallBack, PhaseListing: Relist, PhaseOpeningWatch: Relist, PhaseWatching: Relist},
}
