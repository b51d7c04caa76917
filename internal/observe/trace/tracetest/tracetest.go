// Package tracetest reads recordings in tests.
package tracetest

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"orrery/internal/observe/trace"
	"orrery/restclient/api"
)

// Hooks returns the hooks of a Recorder by the names of their events: the gear, and its hook with a
// small letter at the beginning. One that is not recorded is nil.
func Hooks(r *trace.Recorder) map[string]reflect.Value {
	found := map[string]reflect.Value{}
	for gear, hooks := range map[string]any{
		"queue": r.Queue("q"), "deltafifo": trace.FIFO[*api.Namespace](r, "i"), "indexer": r.Store("i"),
		"informer": r.Informer("i"), "reflector": r.Reflector("i"), "nsctl": r.Namespaces(),
		"restclient": r.Requests(), "leaderelection": r.Election(),
	} {
		all := reflect.ValueOf(hooks)
		for i := range all.Type().Elem().NumField() {
			name := all.Type().Elem().Field(i).Name
			name = gear + "." + strings.ToLower(name[:1]) + name[1:]
			found[name] = reflect.Zero(all.Type().Elem().Field(i).Type)
			if !all.IsNil() {
				found[name] = all.Elem().Field(i)
			}
		}
	}
	return found
}

// Names returns the names of the events of all gears.
func Names() (names []string) {
	recorder, err := trace.Start(trace.Config{})
	if err != nil {
		panic(err) // without a file nothing can fail
	}
	defer recorder.Stop("")
	for name, hook := range Hooks(recorder) {
		if !hook.IsNil() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

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
