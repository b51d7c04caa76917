package informertest

import (
	"fmt"
	"maps"
	"sync"
)

// Event is what a handler of the contract is told.
type Event struct {
	Kind     string // "add", "update" or "delete"
	Key      string
	Old, New string // values; an addition has only New, a deletion only Old
	// InitialList is isInInitialList of an addition.
	InitialList bool
	// FinalStateUnknown: a deletion that was concluded.
	FinalStateUnknown bool
}

// String writes the event as the expectations of the contract do: "add ns/a=1 (initial)", "update ns/a 1->2",
// "delete ns/a=2 (unknown)".
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

// Recorder is a handler that remembers what it is told.
type Recorder struct {
	// During, if not nil, is called in each callback after the event was recorded. Set it before the handler is
	// added.
	During func(e Event)

	mu     sync.Mutex // guards what follows
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

// Events returns what was told since the beginning or since the last Reset, as text.
func (r *Recorder) Events() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, len(r.events))
	for i, e := range r.events {
		out[i] = e.String()
	}
	return out
}

// Reset forgets what was told.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

// Replay plays the history into an empty store and returns the store, or an error if the history makes no sense:
// an addition of what is there, an update or a deletion of what is not there or is in another state, two callbacks
// at the same time. Resyncs make sense.
func (r *Recorder) Replay() (map[string]string, error) { return r.replay(false) }

// ReplayMerged is Replay for a handler that is told merged events: what is deleted may have changed before, which it was
// not told.
func (r *Recorder) ReplayMerged() (map[string]string, error) { return r.replay(true) }

func (r *Recorder) replay(merged bool) (map[string]string, error) {
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
			return nil, fmt.Errorf("event %d, %v, makes no sense where the state is %q (known: %v)", i, e, value, known)
		}
	}
	return maps.Clone(content), nil
}
