package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// identity is a state of an object: which one, and which version of it.
type identity struct {
	uid, version string
}

func (i identity) String() string { return i.uid + "@" + i.version }

// told is something that a handler was told.
type told struct {
	at       time.Time
	kind     string // "add", "update" or "delete"
	key      string
	old, new identity // an addition has only new, a deletion only old
	unknown  bool     // a deletion that was concluded
}

func (t told) String() string {
	text := t.at.Format(clock) + " " + t.kind
	if t.old != (identity{}) {
		text += " " + t.old.String()
	}
	if t.new != (identity{}) {
		text += " -> " + t.new.String()
	}
	if t.unknown {
		text += " (final state unknown)"
	}
	return text
}

// shownEvents is how many events of an object a violation shows.
const shownEvents = 8

// object is what a handler knows of a key.
type object struct {
	present bool
	state   identity
	newest  uint64 // the highest version that was told
	last    []told
}

// history judges what a handler is told, as it is told. What must hold of each object:
//
//   - It is added when it is not known, and updated or deleted when it is; an update is from the state told last.
//   - Its version never gets older. kube-apiserver's versions are comparable numbers.
//   - After its deletion nothing is told of it any more. An object that is created anew under the same name is another
//     one, with another UID. When deletion and creation fell into a gap of the watch they are told as one update, which
//     is the end of the old object and the beginning of the new one.
//   - No two callbacks run at the same time.
type history struct {
	mu         sync.Mutex // guards the fields below
	active     bool
	objects    map[string]*object
	dead       map[string]bool // UIDs of objects that were deleted
	events     int
	tombstones int
	violations []string
}

func newHistory() *history {
	return &history{objects: map[string]*object{}, dead: map[string]bool{}}
}

// enter begins a callback, leave ends it.
func (h *history) enter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.active {
		h.violateLocked("two callbacks of one handler ran at the same time")
	}
	h.active = true
}

func (h *history) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active = false
}

// hear takes an event.
func (h *history) hear(t told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events++
	o := h.objects[t.key]
	if o == nil {
		o = &object{}
		h.objects[t.key] = o
	}
	if len(o.last) == shownEvents {
		o.last = o.last[1:]
	}
	o.last = append(o.last, t)
	h.judgeLocked(o, t)
	if t.kind == "delete" {
		h.dead[t.old.uid] = true
		o.present, o.state = false, identity{}
		if t.unknown {
			h.tombstones++
		}
		return
	}
	if o.present && o.state.uid != t.new.uid {
		h.dead[o.state.uid] = true
	}
	o.present, o.state = true, t.new
}

func (h *history) judgeLocked(o *object, t told) {
	current := t.new
	if t.kind == "delete" {
		current = t.old
	}
	version, err := strconv.ParseUint(current.version, 10, 64)
	switch {
	case err != nil:
		h.blameLocked(t.key, o, "has a version that is no number")
	case t.kind == "add" && o.present:
		h.blameLocked(t.key, o, "is added though it is known")
	case t.kind != "add" && !o.present:
		h.blameLocked(t.key, o, "is not known")
	case t.kind == "update" && t.old != o.state:
		h.blameLocked(t.key, o, fmt.Sprintf("is updated from a state that was not told last, which was %s", o.state))
	case t.kind == "delete" && current.uid != o.state.uid:
		h.blameLocked(t.key, o, "is deleted, but it is another one that was told")
	case h.dead[current.uid]:
		h.blameLocked(t.key, o, "is told of after its deletion")
	case version < o.newest:
		h.blameLocked(t.key, o, fmt.Sprintf("is older than what was told before, %d", o.newest))
	}
	o.newest = max(o.newest, version)
}

func (h *history) blameLocked(key string, o *object, what string) {
	lines := []string{fmt.Sprintf("%s %s:", key, what)}
	for _, t := range o.last {
		lines = append(lines, "    "+t.String())
	}
	h.violateLocked(strings.Join(lines, "\n"))
}

// mostViolations bounds a report: what goes wrong once goes wrong often.
const mostViolations = 20

func (h *history) violateLocked(text string) {
	if len(h.violations) < mostViolations {
		h.violations = append(h.violations, text)
	}
}

// faults returns what was wrong with the history.
func (h *history) faults() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.violations)
}

// counts returns how many events and how many tombstones there were.
func (h *history) counts() (events, tombstones int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.events, h.tombstones
}

// compare holds the state to which the history leads against what the server has.
func (h *history) compare(want map[string]identity) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	have := map[string]identity{}
	for key, o := range h.objects {
		if o.present {
			have[key] = o.state
		}
	}
	return differences(have, want)
}

// differences describes in what two states of a collection differ, in order and at most so many.
func differences(have, want map[string]identity) []string {
	keys := slices.Collect(maps.Keys(have))
	keys = slices.AppendSeq(keys, maps.Keys(want))
	slices.Sort(keys)
	var found []string
	for _, key := range slices.Compact(keys) {
		ours, here := have[key]
		theirs, there := want[key]
		switch {
		case ours == theirs:
			continue
		case !here:
			found = append(found, fmt.Sprintf("%s is missing, the server has %s", key, theirs))
		case !there:
			found = append(found, fmt.Sprintf("%s is %s, the server does not have it", key, ours))
		default:
			found = append(found, fmt.Sprintf("%s is %s, the server has %s", key, ours, theirs))
		}
		if len(found) == mostViolations {
			return append(found, "...")
		}
	}
	return found
}
