package history

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"orrery/informer"
)

// History is what one handler was told, checked while it is told: for every key the events have to make sense one after
// the other. Only the last few events of each key are kept, to be shown. Its methods may be called from any goroutine.
type History struct {
	name string
	// selective: objects may leave and come back, because labels decide which are seen.
	selective bool
	wrote     func(uid string, version uint64) bool

	mu       sync.Mutex // guards all below
	present  map[string]State
	gone     map[string]uint64 // UID -> version in which it went
	recent   map[string][]told
	wrong    []string
	unproved []claim // states of which the server's journal did not know yet
	events   int
}

// told is an event, as a handler was told of it.
type told struct {
	kind    informer.EventKind
	was, is State
	flagged bool // of an addition: in the initial list; of a deletion: concluded from a list
}

func (t told) String() string {
	switch {
	case t.kind == informer.EventUpdate:
		return fmt.Sprintf("update %s -> %s", t.was, t.is)
	case t.flagged && t.kind == informer.EventAdd:
		return fmt.Sprintf("add %s, initially", t.is)
	case t.flagged:
		return fmt.Sprintf("delete %s, concluded", t.is)
	}
	return fmt.Sprintf("%s %s", t.kind, t.is)
}

// claim is a state that a handler was told of.
type claim struct {
	key string
	State
}

const (
	recentEvents = 8
	mostWrong    = 10
)

// New returns the history of a handler, which is called by that name in what is wrong with it. Objects may leave and come
// back if it is selective, because labels decide which are seen. wrote, if it is not nil, tells whether the server ever gave
// an object that version.
func New(name string, selective bool, wrote func(uid string, version uint64) bool) *History {
	return &History{
		name: name, selective: selective, wrote: wrote,
		present: map[string]State{}, gone: map[string]uint64{}, recent: map[string][]told{},
	}
}

// Added is an addition, initial if it belongs to the initial list.
func (h *History) Added(key string, is State, initial bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, told{kind: informer.EventAdd, is: is, flagged: initial})
	if was, there := h.present[key]; there {
		h.failLocked(key, "added as %s though %s is there", is, was)
	}
	h.comeLocked(key, is)
}

// Updated is an update from one state to another.
func (h *History) Updated(key string, was, is State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, told{kind: informer.EventUpdate, was: was, is: is})
	known, there := h.present[key]
	switch {
	case !there:
		h.failLocked(key, "updated to %s though nothing is there", is)
	case known != was:
		h.failLocked(key, "updated from %s though the last it was told of is %s", was, known)
	case is.Version < known.Version:
		h.failLocked(key, "went back from %s to %s", known, is)
	}
	if there && known.UID != is.UID {
		h.gone[known.UID] = known.Version
	}
	h.comeLocked(key, is)
}

// Deleted is a deletion, concluded if nobody saw it, with the last state of the object.
func (h *History) Deleted(key string, last State, concluded bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, told{kind: informer.EventDelete, is: last, flagged: concluded})
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

// comeLocked makes the state the one that is there.
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

// proveLocked checks that the server has ever had the state. Its journal may be a moment behind.
func (h *History) proveLocked(key string, is State) {
	if h.wrote != nil && !h.wrote(is.UID, is.Version) {
		h.unproved = append(h.unproved, claim{key, is})
	}
}

func (h *History) noteLocked(key string, e told) {
	h.events++
	lines := h.recent[key]
	if len(lines) == recentEvents {
		lines = slices.Delete(lines, 0, 1)
	}
	h.recent[key] = append(lines, e)
}

func (h *History) failLocked(key, format string, args ...any) {
	if len(h.wrong) < mostWrong {
		h.wrong = append(h.wrong, fmt.Sprintf("handler %s: %s was %s; it was told: %v", h.name, key, fmt.Sprintf(format, args...), h.recent[key]))
	}
}

// Violations returns what can never be right again. Call it when nothing is under way.
func (h *History) Violations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.unproved {
		if !h.wrote(c.UID, c.Version) {
			h.failLocked(c.key, "told of as %s, which the server never had", c.State)
		}
	}
	h.unproved = nil
	return slices.Clone(h.wrong)
}

// Differences returns in what the handler's last state of affairs is not the server's.
func (h *History) Differences(server map[string]State) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var wrong []string
	for key, is := range server {
		if told, there := h.present[key]; !there {
			wrong = append(wrong, fmt.Sprintf("handler %s: was not told of %s, which is %s; it was told: %v", h.name, key, is, h.recent[key]))
		} else if told != is {
			wrong = append(wrong, fmt.Sprintf("handler %s: %s is %s and it was told %s last: %v", h.name, key, is, told, h.recent[key]))
		}
	}
	for key, told := range h.present {
		if _, there := server[key]; !there {
			wrong = append(wrong, fmt.Sprintf("handler %s: was not told that %s is gone, which was %s: %v", h.name, key, told, h.recent[key]))
		}
	}
	slices.SortFunc(wrong, cmp.Compare)
	return wrong
}

// Count is the number of events.
func (h *History) Count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events
}
