package informertest

import (
	"fmt"
	"maps"
	"sync"
)

// Event is an event that a handler of the contract received.
type Event struct {
	Kind     string // "add", "update" or "delete"
	Key      string
	Old, New string // values; an addition has only New, a deletion only Old
	// InitialList is isInInitialList of an addition.
	InitialList bool
	// FinalStateUnknown: the deletion was inferred.
	FinalStateUnknown bool
}

// String formats the event as in the expectations of the contract: "add ns/a=1 (initial)", "update
// ns/a 1->2", "delete ns/a=2 (unknown)".
func (e Event) String() string {
	switch e.Kind {
	case "add":
		return fmt.Sprintf("add %s=%s%s", e.Key, e.New, mark(e.InitialList, "initial"))
	case "update":
		return fmt.Sprintf("update %s %s->%s", e.Key, e.Old, e.New)
	}
	return fmt.Sprintf("%s %s=%s%s", e.Kind, e.Key, e.Old, mark(e.FinalStateUnknown, "unknown"))
}

func mark(on bool, text string) string {
	if on {
		return " (" + text + ")"
	}
	return ""
}

// Recorder is a handler that records its events.
type Recorder struct {
	// During, if not nil, is called in each callback after the event was recorded. Set it before
	// adding the handler.
	During func(e Event)

	mu     sync.Mutex // guards the fields below
	events []Event
	active bool
	nested bool // two callbacks ran at the same time
}

// Handle is the handler.
func (r *Recorder) Handle(e Event) {
	r.mu.Lock()
	r.nested = r.nested || r.active
	r.active = true
	r.events = append(r.events, e)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.active = false
		r.mu.Unlock()
	}()
	if r.During != nil {
		r.During(e)
	}
}

// Events returns the events since the beginning or the last Reset, as text.
func (r *Recorder) Events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, len(r.events))
	for i, e := range r.events {
		out[i] = e.String()
	}
	return out
}

// Reset drops the recorded events.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

// Replay applies the history to an empty store and returns it, or an error if the history is
// inconsistent: an addition of a present object, an update or a deletion of a missing object or
// from another state, or two concurrent callbacks. Resyncs are consistent. If events may be merged,
// a deletion may have another last state than the handler has received.
func (r *Recorder) Replay(merged bool) (map[string]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.nested {
		return nil, fmt.Errorf("two callbacks of one handler ran at the same time")
	}
	content := map[string]string{}
	for i, e := range r.events {
		value, known := content[e.Key]
		switch {
		case e.Kind == "add" && !known, e.Kind == "update" && known && value == e.Old:
			content[e.Key] = e.New
		case e.Kind == "delete" && known && (merged || value == e.Old):
			delete(content, e.Key)
		default:
			return nil, fmt.Errorf("event %d, %v, is inconsistent with the state %q (known: %v)", i, e, value, known)
		}
	}
	return maps.Clone(content), nil
}
