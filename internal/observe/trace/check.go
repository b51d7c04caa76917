package trace

import (
	"bytes"
	"fmt"
	"io"
)

// Report is the result of [Check].
type Report struct {
	Header Header
	Events uint64
	State  *State // after the last event
	// Problems are sentences about broken lines and contradictions, at most 20; Found counts all.
	Problems []string
	Found    int
	// Cut: the last line is cut off, which is normal after a crash.
	Cut bool
	// Unknown has the events that this version does not know, with their number.
	Unknown map[string]uint64
}

const shownProblems = 20

// Check reads a recording and verifies it: every line is an event, the sequence has no gaps, times
// do not go back, causes are earlier events, and each trace.state is the fold of the events before
// it.
func Check(from io.Reader) (*Report, error) {
	c := &checker{Report: Report{State: NewState(), Unknown: map[string]uint64{}}, known: map[string]bool{traceState: true, traceLost: true, traceEnd: true}}
	for _, name := range names {
		c.known[name] = true
	}
	var err error
	c.Header, err = Read(from, c.line)
	return &c.Report, err
}

type checker struct {
	Report
	known  map[string]bool
	broken bool // since the last trace.state
}

func (c *checker) problem(format string, args ...any) {
	c.Found++
	if len(c.Problems) < shownProblems {
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	}
}

func (c *checker) line(e *Event, broken *LineError) error {
	if broken != nil {
		c.broken = true
		if c.Cut = broken.Cut; !broken.Cut {
			c.problem("%v", broken)
		}
		return nil
	}
	c.Events++
	if !c.known[e.Name] {
		c.Unknown[e.Name]++
	}
	before := c.State
	if c.Events == 1 && e.Name == traceState { // the file was rotated
		before.Apply(e)
		return nil
	}
	if e.Seq != before.Seq+1 {
		if !c.broken || e.Seq <= before.Seq {
			c.problem("event %d follows event %d", e.Seq, before.Seq)
		}
		c.broken = true
	}
	if e.Time < before.Time {
		c.problem("event %d: the time goes back from %d to %d", e.Seq, before.Time, e.Time)
	}
	for _, cause := range e.Causes {
		if cause >= e.Seq {
			c.problem("event %d: its cause %d is not an earlier event", e.Seq, cause)
		}
	}
	if e.Name == traceState && e.State != nil {
		c.compare(e)
		c.broken = false
	}
	before.Apply(e)
	return nil
}

// compare compares a trace.state with the fold.
func (c *checker) compare(e *Event) {
	if c.broken {
		return
	}
	folded := c.State.Clone()
	folded.Apply(&Event{Seq: e.Seq, Time: e.Time, Name: traceState})
	if folded.Events["trace"] = e.State.Events["trace"]; !bytes.Equal(encodeState(folded), encodeState(e.State)) {
		c.problem("event %d: the state is not that of the events before it", e.Seq)
	}
}
