package machine

import (
	"io"

	"orrery/informer/reflector"
)

// recovery is what to do after a failure.
type recovery int

const (
	// relist backs off, then fetches the complete state again.
	relist recovery = iota
	// resume requests the same position again, at once.
	resume
	// retry backs off and requests the same position again.
	retry
	// startFresh forgets the position, which the server has refused for a list or a streaming list:
	// it is repeated at once as a consistent read (resourceVersion "").
	startFresh
	// listInstead lists instead of streaming.
	listInstead
	recoveryCount
)

var recoveryNames = [recoveryCount]string{"Relist", "Resume", "Retry", "StartFresh", "FallBack"}

func (r recovery) String() string { return recoveryNames[r] }

// recoveryFor returns the recovery action for a failure in this phase with this cause. The
// transition table refines it by the number of attempts, the duration of a watch, and the page of a
// list.
func recoveryFor(phase reflector.Phase, cause reflector.Cause) recovery {
	return recoveries[cause][phase]
}

// causeCount is the number of causes.
const causeCount = reflector.CauseUnreachable + 1

// recoveries has the recovery action of each cause and phase. Listing has neither retry nor resume:
// relist starts over. An open watch that ends for an unknown reason is resumed: if the reason
// recurs at once, the watch was a very short one, and that leads to a list.
var recoveries = [causeCount][phaseCount]recovery{
	// while a stream opens and is read, a list is requested, a watch opens and is read
	reflector.CauseExpired:         inPhases(startFresh, startFresh, startFresh, relist, relist),
	reflector.CauseTooLarge:        inPhases(startFresh, startFresh, startFresh, relist, relist),
	reflector.CauseTooManyRequests: inPhases(retry, retry, relist, retry, retry),
	reflector.CauseUnreachable:     inPhases(retry, retry, relist, retry, resume),
	reflector.CauseEnded:           inPhases(retry, retry, relist, retry, resume),
	reflector.CauseRefused:         inPhases(listInstead, listInstead, relist, relist, relist),
	reflector.CauseInternal:        inPhases(listInstead, listInstead, relist, relist, relist),
	reflector.CauseUnknown:         inPhases(listInstead, listInstead, relist, relist, resume),
	reflector.CauseOther:           inPhases(listInstead, listInstead, relist, relist, relist),
}

// inPhases returns the recovery actions of the phases with an outstanding request. The others have
// none.
func inPhases(openingStream, streaming, listing, openingWatch, watching recovery) [phaseCount]recovery {
	return [phaseCount]recovery{
		phaseOpeningStream: openingStream, phaseStreaming: streaming, phaseListing: listing,
		phaseOpeningWatch: openingWatch, phaseWatching: watching,
	}
}

// failure returns the error of the phase. It wraps the error of the input, or says why the machine
// rejects the answer.
func (r *rules) failure(s *state, in *input) error {
	err := in.err
	switch in.kind {
	case inputPageListed:
		err = reflector.ErrRepeatedContinue
		if listTooLong.holds(r, s, in) {
			err = reflector.ErrListTooLong
		}
	case inputEvent:
		err = reflector.ErrListTooLong
	case inputIdleElapsed:
		err = reflector.ErrIdle
	case inputDeadlineElapsed:
		err = reflector.ErrListTimeout
	}
	switch s.Phase {
	case phaseListing:
		return &reflector.ListError{Name: r.name, ResourceVersion: s.request.rv, Page: s.listing.page, Err: err}
	case phaseReplacing:
		return &reflector.StoreError{Name: r.name, Op: reflector.OpReplace, ResourceVersion: s.fetched.rv, Err: err}
	}
	if in.kind == inputResyncFailed {
		return &reflector.StoreError{Name: r.name, Op: reflector.OpResync, ResourceVersion: s.ResourceVersion, Err: err}
	}
	return r.streamFailure(s, in, err)
}

// streamFailure returns the error of a watch or a streaming list.
func (r *rules) streamFailure(s *state, in *input, err error) error {
	streaming := s.Phase == phaseOpeningStream || s.Phase == phaseStreaming
	if streaming && (in.kind == inputIdleElapsed || in.kind == inputDeadlineElapsed || in.kind == inputStreamEnded) {
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
