// Package tracetest reads recordings in tests.
package tracetest

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"orrery/internal/observe/trace"
)

// Read returns the events of a recording and the state after the last of them. It verifies what a
// recording promises: it begins with a state, the sequence has no gaps, times do not go back, and
// each state is the one before it with the differences between them.
func Read(from io.Reader) (events []trace.Event, last *trace.State, err error) {
	var state map[string]any // nil before the first one
	var seq uint64
	var time int64
	each := func(_ []byte, e *trace.Event) error {
		var part map[string]any
		for _, text := range []json.RawMessage{e.State, e.Difference} {
			if text != nil && json.Unmarshal(text, &part) != nil {
				return fmt.Errorf("event %d: its state or difference is no object", e.Seq)
			}
		}
		switch {
		case e.State != nil && state != nil && (e.Seq != seq || !reflect.DeepEqual(part, state)):
			return fmt.Errorf("event %d: the state is not that of the events before it", e.Seq)
		case e.State != nil:
			state, seq, time = part, e.Seq, e.Time
			return nil
		case state == nil:
			return fmt.Errorf("no state is before event %d", e.Seq)
		case e.Seq != seq+1:
			return fmt.Errorf("event %d follows event %d", e.Seq, seq)
		case e.Time < time:
			return fmt.Errorf("event %d: the time goes back from %d to %d", e.Seq, time, e.Time)
		}
		Merge(state, part)
		state["s"], state["t"] = float64(e.Seq), float64(e.Time)
		seq, time = e.Seq, e.Time
		events = append(events, *e)
		return nil
	}
	if err := trace.Read(from, func(trace.Header) error { return nil }, each); err != nil {
		return events, nil, err
	}
	text, err := json.Marshal(state)
	if err != nil {
		return events, nil, err
	}
	last = trace.NewState()
	return events, last, json.Unmarshal(text, last)
}

// Merge applies a JSON merge patch (RFC 7396) to a state.
func Merge(state, patch map[string]any) {
	for key, value := range patch {
		members, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(state, key)
		case isObject:
			inner, known := state[key].(map[string]any)
			if !known {
				inner = map[string]any{}
				state[key] = inner
			}
			Merge(inner, members)
		default:
			state[key] = value
		}
	}
}
