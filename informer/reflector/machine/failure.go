package machine

import (
	"io"

	"orrery/informer/reflector"
)

// failure is the error of the phase in which something failed. It wraps what the input brought, or the reason why
// the machine refuses what it brought.
func (r *rules) failure(s state, in input) error {
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
	switch s.phase {
	case phaseListing:
		return &reflector.ListError{Name: r.name, ResourceVersion: s.requestRV, Page: s.page, Err: err}
	case phaseReplacing:
		return &reflector.StoreError{Name: r.name, Op: reflector.OpReplace, ResourceVersion: s.listRV, Err: err}
	}
	if in.kind == InputResyncFailed {
		return &reflector.StoreError{Name: r.name, Op: reflector.OpResync, ResourceVersion: s.lastRV, Err: err}
	}
	return r.streamFailure(s, in, err)
}

// streamFailure is the error of a watch or a streaming list.
func (r *rules) streamFailure(s state, in input, err error) error {
	streaming := s.phase == phaseOpeningStream || s.phase == phaseStreaming
	if streaming && (in.kind == InputIdleElapsed || in.kind == InputDeadlineElapsed || in.kind == InputStreamEnded) {
		err = reflector.ErrNoInitialBookmark
	}
	if s.phase == phaseOpeningStream || s.phase == phaseOpeningWatch {
		return &reflector.WatchStartError{Name: r.name, ResourceVersion: s.requestRV, Streaming: streaming, Err: err}
	}
	if s.phase == phaseWatching && err == io.EOF {
		err = reflector.ErrVeryShortWatch
	}
	rv := s.lastRV
	if streaming {
		rv = s.requestRV
	}
	return &reflector.StreamError{Name: r.name, ResourceVersion: rv, Streaming: streaming, Err: err}
}
