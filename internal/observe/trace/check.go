package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Report is the result of [Check].
type Report struct {
	Header Header
	Events uint64
	Gears  map[string]uint64 // the events of each package
	State  *State            // after the last event
	// Problems are sentences about a broken line and contradictions, at most 20; Found counts all.
	Problems []string
	Found    int
	// Cut: the last line is cut off, which is normal after a crash.
	Cut bool
}

const shownProblems = 20

// Check reads a recording up to its first broken line and verifies it: it begins with a state, the
// sequence has no gaps, times do not go back, causes are earlier events, and each state is the one
// before it with the differences between them.
func Check(from io.Reader) (*Report, error) {
	c := &checker{Report: Report{State: NewState(), Gears: map[string]uint64{}}}
	var err error
	c.Header, err = readLines(from, func(Header) {}, c.line)
	if broken, ok := errors.AsType[*LineError](err); ok {
		if c.Cut, err = broken.Cut, nil; !c.Cut {
			c.problem("%v", broken)
		}
	}
	if c.state != nil && json.Unmarshal(encode(c.state), c.State) != nil {
		c.problem("the last state is none")
	}
	return &c.Report, err
}

type checker struct {
	Report
	state map[string]any // after event seq; nil before the first one
	seq   uint64
	time  int64
}

func (c *checker) problem(format string, args ...any) {
	c.Found++
	if len(c.Problems) < shownProblems {
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	}
}

func (c *checker) line(_ []byte, e *Event) error {
	var part map[string]any
	for _, text := range []json.RawMessage{e.State, e.Difference} {
		if text != nil && json.Unmarshal(text, &part) != nil {
			c.problem("event %d: its state or difference is no object", e.Seq)
		}
	}
	if e.State != nil {
		if c.state != nil && (e.Seq != c.seq || !reflect.DeepEqual(part, c.state)) {
			c.problem("event %d: the state is not that of the events before it", e.Seq)
		}
		c.state, c.seq, c.time = part, e.Seq, e.Time
		return nil
	}
	c.event(e)
	if c.state == nil {
		c.problem("no state is before event %d", e.Seq)
		c.state = map[string]any{}
	}
	merge(c.state, part)
	c.state["s"], c.state["t"] = float64(e.Seq), float64(e.Time)
	c.seq, c.time = e.Seq, e.Time
	return nil
}

func (c *checker) event(e *Event) {
	c.Events++
	gear, _, _ := strings.Cut(e.Name, ".")
	c.Gears[gear]++
	if c.state != nil && e.Seq != c.seq+1 {
		c.problem("event %d follows event %d", e.Seq, c.seq)
	}
	if e.Time < c.time {
		c.problem("event %d: the time goes back from %d to %d", e.Seq, c.time, e.Time)
	}
	for _, cause := range e.Causes {
		if cause >= e.Seq {
			c.problem("event %d: its cause %d is not an earlier event", e.Seq, cause)
		}
	}
}
