package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"orrery/informer"
)

// object is what an informer of a run may hold. All types of restclient/api are.
type object interface {
	informer.LabeledObject
	GetUID() string
}

// state is which object is under a key, in which version.
type state struct {
	uid     string
	version uint64
}

func stateOf(o object) state {
	version, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64) // 0 is a version that nobody wrote
	return state{o.GetUID(), version}
}

func (s state) String() string { return fmt.Sprintf("%s@%d", s.uid, s.version) }

// history is what one handler was told, checked while it is told: for every key the events have to make sense one after
// the other. Only the last few events of each key are kept, to be shown.
type history struct {
	name string
	// selective: objects may leave and come back, because labels decide which are seen.
	selective bool
	wrote     func(uid string, version uint64) bool

	mu       sync.Mutex // guards all below
	present  map[string]state
	gone     map[string]uint64 // UID -> version in which it went
	recent   map[string][]told
	wrong    []string
	unproved []claim // states of which the server's journal did not know yet
	events   int
}

// told is an event, as a handler was told of it.
type told struct {
	kind    informer.EventKind
	was, is state
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
	state
}

const (
	recentEvents = 8
	mostWrong    = 10
)

func newHistory(name string, selective bool, wrote func(string, uint64) bool) *history {
	return &history{
		name: name, selective: selective, wrote: wrote,
		present: map[string]state{}, gone: map[string]uint64{}, recent: map[string][]told{},
	}
}

func (h *history) added(key string, is state, initial bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, told{kind: informer.EventAdd, is: is, flagged: initial})
	if was, there := h.present[key]; there {
		h.failLocked(key, "added as %s though %s is there", is, was)
	}
	h.comeLocked(key, is)
}

func (h *history) updated(key string, was, is state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, told{kind: informer.EventUpdate, was: was, is: is})
	known, there := h.present[key]
	switch {
	case !there:
		h.failLocked(key, "updated to %s though nothing is there", is)
	case known != was:
		h.failLocked(key, "updated from %s though the last it was told of is %s", was, known)
	case is.version < known.version:
		h.failLocked(key, "went back from %s to %s", known, is)
	}
	if there && known.uid != is.uid {
		h.gone[known.uid] = known.version
	}
	h.comeLocked(key, is)
}

func (h *history) deleted(key string, last state, concluded bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noteLocked(key, told{kind: informer.EventDelete, is: last, flagged: concluded})
	known, there := h.present[key]
	switch {
	case !there:
		h.failLocked(key, "deleted as %s though nothing is there", last)
	case known.uid != last.uid:
		h.failLocked(key, "deleted as %s though %s is there", last, known)
	case last.version < known.version:
		h.failLocked(key, "deleted as %s though it was %s", last, known)
	}
	delete(h.present, key)
	h.gone[last.uid] = last.version
	h.proveLocked(key, last)
}

// comeLocked makes the state the one that is there.
func (h *history) comeLocked(key string, is state) {
	if version, went := h.gone[is.uid]; went {
		if !h.selective || is.version <= version {
			h.failLocked(key, "%s came back after it had gone at %d", is, version)
		}
		delete(h.gone, is.uid)
	}
	h.present[key] = is
	h.proveLocked(key, is)
}

// proveLocked checks that the server has ever had the state. Its journal may be a moment behind.
func (h *history) proveLocked(key string, is state) {
	if !h.wrote(is.uid, is.version) {
		h.unproved = append(h.unproved, claim{key, is})
	}
}

func (h *history) noteLocked(key string, e told) {
	h.events++
	lines := h.recent[key]
	if len(lines) == recentEvents {
		lines = slices.Delete(lines, 0, 1)
	}
	h.recent[key] = append(lines, e)
}

func (h *history) failLocked(key, format string, args ...any) {
	if len(h.wrong) < mostWrong {
		h.wrong = append(h.wrong, fmt.Sprintf("handler %s: %s was %s; it was told: %v", h.name, key, fmt.Sprintf(format, args...), h.recent[key]))
	}
}

// violations returns what can never be right again. Call it when nothing is under way.
func (h *history) violations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.unproved {
		if !h.wrote(c.uid, c.version) {
			h.failLocked(c.key, "told of as %s, which the server never had", c.state)
		}
	}
	h.unproved = nil
	return slices.Clone(h.wrong)
}

// differences returns in what the handler's last state of affairs is not the server's.
func (h *history) differences(server map[string]state) []string {
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

func (h *history) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events
}
