package dispatchbench

import (
	"fmt"
	"sync/atomic"

	"orrery/internal/lab/bench"
)

// witness is a handler that checks every event. It is owned by the handler's goroutine; the driver
// reads it only between drain and the next event, except for seen.
type witness struct {
	world  *world
	merges bool
	// observe, if not nil, is called first with each event but the mark's.
	observe func()
	// work, if not nil, is the handler's simulated work.
	work func()
	// marked receives when the mark has arrived.
	marked chan struct{}

	delivered []int // by object: the number of the version delivered last; -1 before the initial list
	events    int   // delivered since the initial list, the mark's not included
	seen      atomic.Int64
	counting  int // the number of updates still to be counted unchecked
	latency   bench.Histogram
	fault     error // the first fault

	_ [64]byte // keeps handlers on separate cache lines
}

func newWitness(w *world, merges bool) *witness {
	made := &witness{world: w, merges: merges, marked: make(chan struct{}, 1), delivered: make([]int, len(w.names))}
	for i := range made.delivered {
		made.delivered[i] = -1
	}
	return made
}

// Counted counts an update that need not be checked, as checks would be most of the measured time.
// A lost or an extra update is still detected, because the mark is then counted or checked in the
// wrong place, and because each object's next update must come from the last state sent.
func (w *witness) Counted() bool {
	if w.counting == 0 {
		return false
	}
	w.counting--
	w.events++
	return true
}

func (w *witness) OnAdd(id Identity) {
	number := w.begin(id)
	if number < 0 {
		return
	}
	object := w.world.object(number)
	if w.delivered[object] >= 0 || number != 2*object {
		w.wrong("each object of the initial list once", id, "another addition")
	}
	w.delivered[object] = number
}

func (w *witness) OnUpdate(oldVersion string, id Identity) {
	number := w.begin(id)
	if number < 0 {
		return
	}
	object := w.world.object(number)
	if object != w.world.mark() && w.observe != nil {
		w.observe()
	}
	before := w.delivered[object]
	if w.world.number(oldVersion) != before {
		w.wrong("an update from the state delivered before", id, "from version "+oldVersion)
	}
	oldest, consistent := w.oldest(number, before)
	if !consistent {
		w.wrong("the next event of the object", id, fmt.Sprintf("after version %d", firstVersion+before))
	}
	if i := oldest - w.world.stateCount(); i >= 0 && w.world.phase != nil {
		w.latency.Record(w.world.phase.Late(i))
	}
	w.delivered[object] = number
	if object == w.world.mark() {
		w.marked <- struct{}{}
		return
	}
	w.events++
	w.seen.Store(int64(w.events))
	if w.work != nil {
		w.work()
	}
}

func (w *witness) OnDelete(id Identity) { w.wrong("no deletion", id, "a deletion") }

// oldest returns the oldest event that an update stands for, which has waited longest, if the
// update follows the version delivered before. How many states were merged is unknown.
func (w *witness) oldest(number, before int) (oldest int, consistent bool) {
	for oldest = number; w.world.previous(oldest) != before; oldest = w.world.previous(oldest) {
		if !w.merges || oldest < w.world.stateCount() {
			return oldest, w.merges && number < w.world.stateCount()
		}
	}
	return oldest, true
}

// begin returns the number of id's version, or -1.
func (w *witness) begin(id Identity) int {
	number := w.world.number(id.ResourceVersion)
	if number < 0 {
		w.wrong("a version that was sent", id, "another one")
		return number
	}
	if name := w.world.names[w.world.object(number)]; id.Name != name.Name || id.Namespace != name.Namespace {
		w.wrong("the object of the version", id, "version of "+name.Namespace+"/"+name.Name)
	}
	return number
}

func (w *witness) wrong(what string, id Identity, got any) {
	if w.fault == nil {
		w.fault = &bench.ProofError{
			What: fmt.Sprintf("event %d of a handler: %s", w.events, what),
			Want: fmt.Sprintf("%s/%s at version %s", id.Namespace, id.Name, id.ResourceVersion), Got: got,
		}
	}
}

// verify returns the first fault, or a proof that the handler has everything that was sent.
func (w *witness) verify() error {
	if w.fault != nil {
		return w.fault
	}
	for object, last := range w.world.last {
		if w.delivered[object] != last {
			what := "the version delivered last of " + w.world.names[object].Name
			return &bench.ProofError{What: what, Want: version(last), Got: version(w.delivered[object])}
		}
	}
	if w.merges {
		return nil
	}
	return bench.Prove("events delivered to a handler", w.world.sent, w.events)
}
