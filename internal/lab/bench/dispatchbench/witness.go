package dispatchbench

import (
	"fmt"
	"sync/atomic"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/load"
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

// clock measures the latencies of one handler. It is owned by the handler's goroutine, except
// between phases.
type clock struct {
	witness *witness
	// events is the number of events delivered to the handler; the driver reads it.
	events atomic.Int64
	laps   []int32 // by object: the current lap, counted from 1

	latency bench.Histogram
	pacer   *load.Pacer // nil outside the timed phase
	began   time.Time
	first   int           // the number of the phase's first event, counted from the start of the run
	newest  *atomic.Int64 // the number of the last event sent
	pending []int         // by object: the number of its oldest undelivered event
	_       [64]byte      // keeps handlers on separate cache lines
}

// start begins the timed phase.
func (c *clock) start(began time.Time, pacer *load.Pacer, first int, newest *atomic.Int64) {
	c.began, c.pacer, c.first, c.newest = began, pacer, first, newest
	s := c.witness.script
	c.pending = make([]int, len(s.keys))
	for number := first + s.laps - 1; number >= first; number-- {
		c.pending[s.events[number%s.laps].object] = number
	}
}

// observe is called with each event of the script before the witness checks it.
func (c *clock) observe(event int) {
	s := c.witness.script
	if event >= s.laps {
		return
	}
	c.events.Add(1)
	if object := s.events[event].object; int32(event) <= c.witness.delivered[object] {
		c.laps[object]++
	}
	if c.pacer != nil {
		// Of merged events, the oldest has waited longest.
		oldest := &c.pending[s.events[event].object]
		c.latency.Record(time.Since(c.began) - c.pacer.Due(*oldest-c.first))
		*oldest = c.number(event) + s.gap(event)
	}
}

// number returns the number of the event, counted from the start of the run. If nothing is merged
// it follows from the lap. If events are merged, it is the latest number that the event can have,
// which is correct while the handler is less than a lap behind.
func (c *clock) number(event int) int {
	s := c.witness.script
	if !c.witness.merges {
		return int(c.laps[s.events[event].object]-1)*s.laps + event
	}
	newest := int(c.newest.Load())
	return newest - ((newest-event)%s.laps+s.laps)%s.laps
}
