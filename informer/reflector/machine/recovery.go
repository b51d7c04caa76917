package machine

import (
	"io"

	"orrery/informer/reflector"
)

// Recovery is what a Reflector does about a failure.
type Recovery int

const (
	// Relist gives the round up: back off, then fetch the whole state again.
	Relist Recovery = iota
	// Resume asks again from the same position, at once.
	Resume
	// Retry backs off and asks again from the same position.
	Retry
	// StartFresh forgets the position, which the server will not accept again: the state is fetched by a
	// consistent read (resourceVersion ""). A failed list or streaming list is repeated at once, a watch after a back-off.
	StartFresh
	// FallBack gives the streaming list up and lists.
	FallBack
	recoveryCount
)

var recoveryNames = [recoveryCount]string{"Relist", "Resume", "Retry", "StartFresh", "FallBack"}

func (r Recovery) String() string { return recoveryNames[r] }

// RecoveryFor is the one table that says what follows from a failure: the phase it happened in and its cause. The
// transition table refines it with what it knows beyond that: how many attempts were made, how long a watch
// lasted, which page of a list failed.
func RecoveryFor(phase reflector.Phase, cause reflector.Cause) Recovery {
	return recoveries[cause][phase]
}

// causeCount is how many causes there are.
const causeCount = reflector.CauseUnreachable + 1

// Listing has no Retry and no Resume: to begin again is what Relist means. Phases without an outstanding request
// have the zero value. An open watch that ends for an unknown reason is resumed: if the reason comes
// again at once, the watch was a very short one, and that leads to a list.
var recoveries = [causeCount][phaseCount]Recovery{
	reflector.CauseExpired:         {phaseOpeningStream: StartFresh, phaseStreaming: StartFresh, phaseListing: StartFresh, phaseOpeningWatch: StartFresh, phaseWatching: StartFresh},
	reflector.CauseTooLarge:        {phaseOpeningStream: StartFresh, phaseStreaming: StartFresh, phaseListing: StartFresh, phaseOpeningWatch: StartFresh, phaseWatching: StartFresh},
	reflector.CauseTooManyRequests: {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Retry},
	reflector.CauseUnreachable:     {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Resume},
	reflector.CauseEnded:           {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Resume},
	reflector.CauseRefused:         {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseInternal:        {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseUnknown:         {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Resume},
	reflector.CauseOther:           {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
}

// failure returns the error of the phase in which something failed. It wraps the error of the input, or says why the
// machine rejects the answer.
func (r *rules) failure(s *state, in *input) error {
	err := in.err
	switch in.kind {
	case InputPageListed:
		err = reflector.ErrRepeatedContinue
		if versionMissing.holds(r, s, in) {
			err = reflector.ErrNoResourceVersion
		}
	case InputIdleElapsed:
		err = reflector.ErrIdle
	case InputDeadlineElapsed:
		err = reflector.ErrListTimeout
	}
	switch s.Phase {
	case phaseListing:
		return &reflector.ListError{Name: r.name, ResourceVersion: s.requestRV, Page: s.page, Err: err}
	case phaseReplacing:
		return &reflector.StoreError{Name: r.name, Op: reflector.OpReplace, ResourceVersion: s.listRV, Err: err}
	}
	if in.kind == InputResyncFailed {
		return &reflector.StoreError{Name: r.name, Op: reflector.OpResync, ResourceVersion: s.ResourceVersion, Err: err}
	}
	return r.streamFailure(s, in, err)
}

// streamFailure returns the error of a watch or a streaming list.
func (r *rules) streamFailure(s *state, in *input, err error) error {
	streaming := s.Phase == phaseOpeningStream || s.Phase == phaseStreaming
	if streaming && (in.kind == InputIdleElapsed || in.kind == InputDeadlineElapsed || in.kind == InputStreamEnded) {
		err = reflector.ErrNoInitialBookmark
	}
	if s.Phase == phaseOpeningStream || s.Phase == phaseOpeningWatch {
		return &reflector.WatchStartError{Name: r.name, ResourceVersion: s.requestRV, Streaming: streaming, Err: err}
	}
	if s.Phase == phaseWatching && err == io.EOF {
		err = reflector.ErrVeryShortWatch
	}
	rv := s.ResourceVersion
	if streaming {
		rv = s.requestRV
	}
	return &reflector.StreamError{Name: r.name, ResourceVersion: rv, Streaming: streaming, Err: err}
}
