package dispatchbench

import (
	"fmt"

	"orrery/internal/lab/bench"
)

// witness is a handler that checks everything it is told. It belongs to the goroutine of the handler; the driver looks
// at it only between a phase's mark and the next phase.
type witness struct {
	script *script
	merges bool
	// observe, if not nil, is called with each event first thing.
	observe func(event int)
	// work, if not nil, is what the handler does besides.
	work func()
	// marked is told when the mark has arrived.
	marked chan struct{}

	expected map[string]int // objects that were not told yet, by key, until the whole initial list was
	told     []int32        // by object: the event that was told last; -1 if only the initial list was
	events   int            // that were told since the initial list, marks not included
	counting int            // so many updates are counted and not looked at
	fault    error          // the first thing that was wrong
}

func newWitness(s *script, merges bool) *witness {
	w := &witness{
		script: s, merges: merges, marked: make(chan struct{}, 1),
		expected: make(map[string]int, len(s.keys)),
		told:     append([]int32(nil), s.last...),
	}
	for object, key := range s.keys {
		w.expected[key] = object
	}
	return w
}

// count makes the witness count the next n updates only: to look at each would be most of what is measured. A lost one is
// found out all the same, because then the mark is counted in its place and never arrives, and so is one too many. After
// the mark, resume makes it look again; each object's next update must come from the state that was sent last.
func (w *witness) count(n int) { w.counting = n }

func (w *witness) resume(state *state) { copy(w.told, state.last) }

// Counted counts an update if it need not be looked at.
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
	if oldVersion != w.script.versionOf(w.told[e.object]) {
		w.wrong("an update from the state that was told before", id, "from version "+oldVersion)
	}
	if !w.merges && w.told[e.object] != e.previous {
		w.wrong("the next event of the object", id, fmt.Sprintf("after event %d instead of %d", w.told[e.object], e.previous))
	}
	w.end(i, e.object)
}

func (w *witness) OnDelete(id Identity) { w.wrong("no deletion", id, "a deletion") }

// listed is told an object of the initial list.
func (w *witness) listed(id Identity) {
	key := id.Namespace + "/" + id.Name
	object, expected := w.expected[key]
	if !expected || id != w.script.initialIdentity(object) {
		w.wrong("each object of the initial list once", id, "another one")
		return
	}
	delete(w.expected, key)
}

// begin returns the event that was told, or -1 if it was none.
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
	w.told[object] = int32(i)
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

// verify returns what was wrong until now. want is the number of events that were sent, state what they have led to.
func (w *witness) verify(want int, state *state) error {
	if w.fault != nil {
		return w.fault
	}
	if !w.merges {
		return bench.Prove("events told to a handler", want, w.events)
	}
	for object := range w.told {
		if w.told[object] != state.last[object] {
			return &bench.ProofError{
				What: "what a handler was told last of " + w.script.keys[object],
				Want: state.last[object], Got: w.told[object],
			}
		}
	}
	return nil
}
