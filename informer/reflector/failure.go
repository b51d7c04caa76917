package reflector

import "io"

// failure is the error of the phase in which something failed. It wraps what the input brought, or the reason why
// the machine refuses what it brought.
func (r *rules) failure(s state, in input) error {
	err := in.err
	switch in.kind {
	case InputPageListed:
		err = ErrRepeatedContinue
		if versionMissing.holds(r, s, in) {
			err = ErrNoResourceVersion
		}
	case InputIdleElapsed:
		err = ErrIdle
	case InputDeadlineElapsed:
		err = ErrListTimeout
	}
	switch s.phase {
	case PhaseListing:
		return &ListError{Name: r.name, ResourceVersion: s.requestRV, Page: s.page, Err: err}
	case PhaseReplacing:
		return &StoreError{Name: r.name, Op: OpReplace, ResourceVersion: s.listRV, Err: err}
	}
	if in.kind == InputResyncFailed {
		return &StoreError{Name: r.name, Op: OpResync, ResourceVersion: s.lastRV, Err: err}
	}
	return r.streamFailure(s, in, err)
}

// streamFailure is the error of a watch or a streaming list.
func (r *rules) streamFailure(s state, in input, err error) error {
	streaming := s.phase == PhaseOpeningStream || s.phase == PhaseStreaming
	if streaming && (in.kind == InputIdleElapsed || in.kind == InputDeadlineElapsed || in.kind == InputStreamEnded) {
		err = ErrNoInitialBookmark
	}
	if s.phase == PhaseOpeningStream || s.phase == PhaseOpeningWatch {
		return &WatchStartError{Name: r.name, ResourceVersion: s.requestRV, Streaming: streaming, Err: err}
	}
	if s.phase == PhaseWatching && err == io.EOF {
		err = ErrVeryShortWatch
	}
	rv := s.lastRV
	if streaming {
		rv = s.requestRV
	}
	return &StreamError{Name: r.name, ResourceVersion: rv, Streaming: streaming, Err: err}
}
