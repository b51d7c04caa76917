package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"orrery/informer"
)

// State identifies an object and its version. The zero value stands for no object.
type State struct {
	UID     string
	Version uint64
}

// Object is the constraint of objects that have a history. All types of restclient/api satisfy it.
type Object interface {
	informer.Object
	GetUID() string
}

// StateOf returns the state of an object. Versions of built-in types are numbers; 0 stands for any
// other version.
func StateOf(o Object) State {
	version, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	return State{o.GetUID(), version}
}

func (s State) String() string { return fmt.Sprintf("%s@%d", s.UID, s.Version) }

// Compare returns how the states of a store differ from the server's, by key.
func Compare(have, server map[string]State) (wrong []string) {
	for key, is := range server {
		if ours, there := have[key]; !there {
			wrong = append(wrong, fmt.Sprintf("%s is missing, which is %s", key, is))
		} else if ours != is {
			wrong = append(wrong, fmt.Sprintf("%s is %s and should be %s", key, ours, is))
		}
	}
	for key, ours := range have {
		if _, there := server[key]; !there {
			wrong = append(wrong, fmt.Sprintf("%s (%s) is not on the server", key, ours))
		}
	}
	slices.SortFunc(wrong, cmp.Compare)
	return wrong
}

// History remembers the events that an informer's handler receives, because a handler has nothing
// to compare them with, and at the end compares with the server's state. For every key, these are
// errors:
//
//   - an addition of a present object, or an update or deletion of an absent one
//   - an update from another state than the last one received, or to an older one
//   - a deletion of another object than the last one received, or in an older state
//   - any event of an object after its deletion
//   - a state that the server never had, if there is a journal to ask
//   - a final state that is not the server's, as after a lost deletion
//
// A deletion and recreation in a gap of the watch arrive as one update with another UID, which ends
// the first object and begins the second. At most ten errors are kept, each with the last events of
// the key. Its methods are safe for concurrent use.
type History struct {
	name string
	// selective says that objects may leave and come back, because labels select them.
	selective bool
	wrote     func(uid string, version uint64) bool

	mu       sync.Mutex // guards the fields below
	present  map[string]State
	gone     map[string]uint64 // UID -> version of the deletion
	recent   map[string][]event
	wrong    []string
	unproved []claim // states not yet in the server's journal
	events   int
}

// event is an event as the handler received it.
type event struct {
	kind    informer.EventKind
	was, is State
	flagged bool // of an addition: in the initial list; of a deletion: concluded from a list
}

func (e event) String() string {
	switch {
	case e.kind == informer.EventUpdate:
		return fmt.Sprintf("update %s -> %s", e.was, e.is)
	case e.flagged && e.kind == informer.EventAdd:
		return fmt.Sprintf("add %s, initially", e.is)
	case e.flagged:
		return fmt.Sprintf("delete %s, concluded", e.is)
	}
	return fmt.Sprintf("%s %s", e.kind, e.is)
}

// claim is a state that a handler received.
type claim struct {
	key string
	State
}

const (
	recentEvents = 8
	mostWrong    = 10
)

// NewHistory returns the history of the handler with that name. If selective is true, objects may
// leave and come back, because labels select them. If wrote is not nil, it reports whether the
// server ever gave an object that version.
func NewHistory(name string, selective bool, wrote func(uid string, version uint64) bool) *History {
	return &History{
		name: name, selective: selective, wrote: wrote,
		present: map[string]State{}, gone: map[string]uint64{}, recent: map[string][]event{},
	}
}

// Added records an addition. initial says whether it belongs to the initial list.
func (h *History) Added(key string, is State, initial bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, event{kind: informer.EventAdd, is: is, flagged: initial})
	if was, there := h.present[key]; there {
		h.failLocked(key, "added as %s though %s is there", is, was)
	}
	h.comeLocked(key, is)
}

// Updated records an update from one state to another.
func (h *History) Updated(key string, was, is State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, event{kind: informer.EventUpdate, was: was, is: is})
	known, there := h.present[key]
	switch {
	case !there:
		h.failLocked(key, "updated to %s though nothing is there", is)
	case known != was:
		h.failLocked(key, "updated from %s though the last state was %s", was, known)
	case is.Version < known.Version:
		h.failLocked(key, "went back from %s to %s", known, is)
	}
	if there && known.UID != is.UID {
		h.gone[known.UID] = known.Version
	}
	h.comeLocked(key, is)
}

// Deleted records a deletion with the last state of the object. concluded says that no watch event
// reported it.
func (h *History) Deleted(key string, last State, concluded bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, event{kind: informer.EventDelete, is: last, flagged: concluded})
	known, there := h.present[key]
	switch {
	case !there:
		h.failLocked(key, "deleted as %s though nothing is there", last)
	case known.UID != last.UID:
		h.failLocked(key, "deleted as %s though %s is there", last, known)
	case last.Version < known.Version:
		h.failLocked(key, "deleted as %s though it was %s", last, known)
	}
	delete(h.present, key)
	h.gone[last.UID] = last.Version
	h.proveLocked(key, last)
}

// comeLocked makes is the present state.
func (h *History) comeLocked(key string, is State) {
	if version, went := h.gone[is.UID]; went {
		if !h.selective || is.Version <= version {
			h.failLocked(key, "%s came back after it had gone at %d", is, version)
		}
		delete(h.gone, is.UID)
	}
	h.present[key] = is
	h.proveLocked(key, is)
}

// proveLocked checks that the server ever had the state. Its journal may lag slightly behind.
func (h *History) proveLocked(key string, is State) {
	if h.wrote != nil && !h.wrote(is.UID, is.Version) {
		h.unproved = append(h.unproved, claim{key, is})
	}
}

func (h *History) noteLocked(key string, e event) {
	h.events++
	lines := h.recent[key]
	if len(lines) == recentEvents {
		lines = slices.Delete(lines, 0, 1)
	}
	h.recent[key] = append(lines, e)
}

func (h *History) failLocked(key, format string, args ...any) {
	if len(h.wrong) < mostWrong {
		h.wrong = append(h.wrong, fmt.Sprintf("handler %s: %s was %s; recent events: %v", h.name, key,
			fmt.Sprintf(format, args...), h.recent[key]))
	}
}

// Violations returns errors that can never be corrected. Call it when no event is in flight.
func (h *History) Violations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.unproved {
		if !h.wrote(c.UID, c.Version) {
			h.failLocked(c.key, "received as %s, which the server never had", c.State)
		}
	}
	h.unproved = nil
	return slices.Clone(h.wrong)
}

// Differences returns how the handler's last state differs from the server's.
func (h *History) Differences(server map[string]State) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var wrong []string
	for key, is := range server {
		if last, there := h.present[key]; !there {
			wrong = append(wrong, fmt.Sprintf("handler %s: missed the addition of %s, which is %s; recent events: %v",
				h.name, key, is, h.recent[key]))
		} else if last != is {
			wrong = append(wrong, fmt.Sprintf("handler %s: %s is %s, and the last state was %s; recent events: %v",
				h.name, key, is, last, h.recent[key]))
		}
	}
	for key, last := range h.present {
		if _, there := server[key]; !there {
			wrong = append(wrong, fmt.Sprintf("handler %s: missed the deletion of %s, which was %s; recent events: %v",
				h.name, key, last, h.recent[key]))
		}
	}
	slices.SortFunc(wrong, cmp.Compare)
	return wrong
}

// Count returns the number of events.
func (h *History) Count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events
}
