package machine

import (
	"io"

	"orrery/informer/reflector"
)

// Recovery is a recovery action after a failure.
type Recovery int

const (
	// Relist backs off, then fetches the complete state again.
	Relist Recovery = iota
	// Resume requests the same position again, at once.
	Resume
	// Retry backs off and requests the same position again.
	Retry
	// StartFresh forgets the position, which the server has refused for a list or a streaming list:
	// it is repeated at once as a consistent read (resourceVersion "").
	StartFresh
	// FallBack lists instead of streaming.
	FallBack
	recoveryCount
)

var recoveryNames = [recoveryCount]string{"Relist", "Resume", "Retry", "StartFresh", "FallBack"}

func (r Recovery) String() string { return recoveryNames[r] }

// RecoveryFor returns the recovery action for a failure in this phase with this cause. The
// transition table refines it by the number of attempts, the duration of a watch, and the page of a
// list.
func RecoveryFor(phase reflector.Phase, cause reflector.Cause) Recovery {
	return recoveries[cause][phase]
}

// causeCount is the number of causes.
const causeCount = reflector.CauseUnreachable + 1

// Listing has neither Retry nor Resume: Relist starts over. Phases without an outstanding request
// have the zero value. An open watch that ends for an unknown reason is resumed: if the reason
// recurs at once, the watch was a very short one, and that leads to a list.
var recoveries = [causeCount][phaseCount]Recovery{
	reflector.CauseExpired:         {phaseOpeningStream: StartFresh, phaseStreaming: StartFresh, phaseListing: StartFresh, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseTooLarge:        {phaseOpeningStream: StartFresh, phaseStreaming: StartFresh, phaseListing: StartFresh, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseTooManyRequests: {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Retry},
	reflector.CauseUnreachable:     {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Resume},
	reflector.CauseEnded:           {phaseOpeningStream: Retry, phaseStreaming: Retry, phaseListing: Relist, phaseOpeningWatch: Retry, phaseWatching: Resume},
	reflector.CauseRefused:         {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseInternal:        {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
	reflector.CauseUnknown:         {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Resume},
	reflector.CauseOther:           {phaseOpeningStream: FallBack, phaseStreaming: FallBack, phaseListing: Relist, phaseOpeningWatch: Relist, phaseWatching: Relist},
}

// failure returns the error of the phase. It wraps the error of the input, or says why the machine
// rejects the answer.
func (r *rules) failure(s *state, in *input) error {
	err := in.err
	switch in.kind {
	case InputPageListed:
		err = reflector.ErrRepeatedContinue
		if listTooLong.holds(r, s, in) {
			err = reflector.ErrListTooLong
		}
	case InputEvent:
		err = reflector.ErrListTooLong
	case InputIdleElapsed:
		err = reflector.ErrIdle
	case InputDeadlineElapsed:
		err = reflector.ErrListTimeout
	}
	switch s.Phase {
	case phaseListing:
		return &reflector.ListError{Name: r.name, ResourceVersion: s.request.rv, Page: s.listing.page, Err: err}
	case phaseReplacing:
		return &reflector.StoreError{Name: r.name, Op: reflector.OpReplace, ResourceVersion: s.fetched.rv, Err: err}
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
		return &reflector.WatchStartError{Name: r.name, ResourceVersion: s.request.rv, Streaming: streaming, Err: err}
	}
	if s.Phase == phaseWatching && err == io.EOF {
		err = reflector.ErrVeryShortWatch
	}
	rv := s.ResourceVersion
	if streaming {
		rv = s.request.rv
	}
	return &reflector.StreamError{Name: r.name, ResourceVersion: rv, Streaming: streaming, Err: err}
}
