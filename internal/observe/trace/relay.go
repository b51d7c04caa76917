package trace

import (
	"cmp"
	"io"
	"sync"
)

// Relay is the run of another process, read from the lines that its page serves as /trace. Like a
// [Recorder], it is a source for a page. Its methods may be called from any goroutine.
type Relay struct {
	history *History

	mu     sync.Mutex
	header Header // guarded by mu
	state  *State // guarded by mu
	reason string // guarded by mu; why the other process says that it ended
}

// NewRelay returns a Relay of a run that has not begun. The header says what is known of it.
func NewRelay(header Header) *Relay {
	header.Version, header.Schema = 1, Schema
	state := NewState()
	return &Relay{header: header, state: state, history: newHistory(encodeState(state))}
}

// Header returns the first line of the other process, or the one of NewRelay before it is known.
func (r *Relay) Header() Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header
}

// History returns the latest events.
func (r *Relay) History() *History { return r.history }

// Follow reads lines until they end, or until one is broken, as when the process is killed. begun
// is called once, before the first event. Run, Mode and Yours of the header stay those of NewRelay.
func (r *Relay) Follow(from io.Reader, begun func()) error {
	begin := func(header Header) {
		r.mu.Lock()
		header.Run, header.Mode, header.Yours = r.header.Run, r.header.Mode, r.header.Yours
		r.header = header
		r.mu.Unlock()
		begun()
	}
	_, err := read(from, begin, func(e *Event, broken *LineError) error {
		if broken != nil {
			return broken
		}
		r.add(e)
		return nil
	})
	return err
}

// add adds an event of the other process.
func (r *Relay) add(e *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.Seq == 0: // the empty state with which a run begins
		return
	case e.Name == traceEnd:
		r.reason = e.Reason // End adds the last event
		return
	}
	r.addLocked(e)
}

func (r *Relay) addLocked(e *Event) {
	r.state.Apply(e)
	if r.history.add(appendLine(nil, e), 1) {
		r.history.begin(encodeState(r.state))
	}
}

// End ends the run; its last event has the reason, or without one that of the other process. The
// caller calls it once, after Follow.
func (r *Relay) End(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(&Event{Seq: r.state.Seq + 1, Time: r.state.Time, Name: traceEnd, Reason: clip(cmp.Or(reason, r.reason))})
	r.history.end()
}
