package dispatchbench

import (
	"fmt"

	"orrery/internal/lab/bench"
)

// witness is a handler that checks every event. It is owned by the handler's goroutine; the driver
// reads it only between a phase's mark and the next phase.
type witness struct {
	script *script
	merges bool
	// observe, if not nil, is called with each event first.
	observe func(event int)
	// work, if not nil, is the handler's simulated work.
	work func()
	// marked receives when the mark has arrived.
	marked chan struct{}

	expected  map[string]int // undelivered objects of the initial list, by key
	delivered []int32        // by object: the last event delivered; -1 if only the initial list was
	events    int            // delivered since the initial list, marks not included
	counting  int            // the number of updates still to be counted unchecked
	fault     error          // the first fault
}

func newWitness(s *script, merges bool) *witness {
	w := &witness{
		script: s, merges: merges, marked: make(chan struct{}, 1),
		expected:  make(map[string]int, len(s.keys)),
		delivered: append([]int32(nil), s.last...),
	}
	for object, key := range s.keys {
		w.expected[key] = object
	}
	return w
}

// count makes the witness count the next n updates without checking them, which would be most of
// the measured time. A lost or an extra update is still detected, because the mark is then counted
// or checked in the wrong place. After the mark, resume restarts checking: each object's next
// update must come from the last state sent.
func (w *witness) count(n int) { w.counting = n }

func (w *witness) resume(state *state) { copy(w.delivered, state.last) }

// Counted counts an update that need not be checked.
func (w *witness) Counted() bool {
	if w.counting == 0 {
		return false
	}
	w.counting--
	w.events++
	return true
}

func (w *witness) OnAdd(id Identity) {
	if len(w.expected) == 0 {
		w.wrong("no addition after the initial list", id, "an addition")
		return
	}
	w.listed(id)
}

func (w *witness) OnUpdate(oldVersion string, id Identity) {
	i := w.begin(id)
	if i < 0 {
		return
	}
	e := &w.script.events[i]
	if oldVersion != w.script.versionOf(w.delivered[e.object]) {
		w.wrong("an update from the state delivered before", id, "from version "+oldVersion)
	}
	if !w.merges && w.delivered[e.object] != e.previous {
		w.wrong("the next event of the object", id, fmt.Sprintf("after event %d instead of %d", w.delivered[e.object], e.previous))
	}
	w.end(i, e.object)
}

func (w *witness) OnDelete(id Identity) { w.wrong("no deletion", id, "a deletion") }

// listed checks an object of the initial list.
func (w *witness) listed(id Identity) {
	key := id.Namespace + "/" + id.Name
	object, expected := w.expected[key]
	if !expected || id != w.script.initialIdentity(object) {
		w.wrong("each object of the initial list once", id, "another one")
		return
	}
	delete(w.expected, key)
}

// begin returns the event with id's version, or -1.
func (w *witness) begin(id Identity) int {
	i := w.script.eventOf(id.ResourceVersion)
	if i < 0 {
		w.wrong("an event of the script", id, "another one")
		return i
	}
	if w.observe != nil {
		w.observe(i)
	}
	if name := &w.script.names[w.script.events[i].object]; id.Name != name.Name || id.Namespace != name.Namespace {
		w.wrong("the object of the event", id, "event of "+name.Namespace+"/"+name.Name)
	}
	return i
}

func (w *witness) end(i int, object int32) {
	w.delivered[object] = int32(i)
	if i >= w.script.laps {
		w.marked <- struct{}{}
		return
	}
	w.events++
	if w.work != nil {
		w.work()
	}
}

func (w *witness) wrong(what string, id Identity, got any) {
	if w.fault == nil {
		w.fault = &bench.ProofError{
			What: fmt.Sprintf("event %d of a handler: %s", w.events, what),
			Want: fmt.Sprintf("%s/%s at version %s", id.Namespace, id.Name, id.ResourceVersion), Got: got,
		}
	}
}

// verify returns the first fault. want is the number of events sent, state the expected state.
func (w *witness) verify(want int, state *state) error {
	if w.fault != nil {
		return w.fault
	}
	if !w.merges {
		return bench.Prove("events delivered to a handler", want, w.events)
	}
	for object := range w.delivered {
		if w.delivered[object] != state.last[object] {
			return &bench.ProofError{
				What: "the last event delivered of " + w.script.keys[object],
				Want: state.last[object], Got: w.delivered[object],
			}
		}
	}
	return nil
}
