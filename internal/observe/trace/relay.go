package trace

import (
	"bytes"
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
	last   Event  // guarded by mu; its Reason is why the other process says that it ended
}

// NewRelay returns a Relay of a run that has not begun. The header says what is known of it.
func NewRelay(header Header) *Relay {
	header.Version, header.Schema = 1, Schema
	return &Relay{header: header, history: newHistory(stateLine(0, 0, NewState()))}
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
	begin := func(header Header) error {
		r.mu.Lock()
		header.Run, header.Mode, header.Yours = r.header.Run, r.header.Mode, r.header.Yours
		r.header = header
		r.mu.Unlock()
		begun()
		return nil
	}
	return Read(from, begin, func(line []byte, e *Event) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		line = append(bytes.Clone(line), '\n')
		switch r.last = *e; {
		case e.Name == traceEnd: // End adds the last event
			r.last.Seq--
		case e.State != nil:
			r.history.begin(line, e.Seq)
		default:
			r.history.add(line, e.Seq)
		}
		return nil
	})
}

// End ends the run; its last event has the reason, or without one that of the other process. The
// caller calls it once, after Follow.
func (r *Relay) End(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &Event{Seq: r.last.Seq + 1, Time: r.last.Time, Name: traceEnd, Reason: clip(cmp.Or(reason, r.last.Reason))}
	r.history.add(appendLine(nil, e, NewState().Next(e)), e.Seq)
	r.history.end()
}
