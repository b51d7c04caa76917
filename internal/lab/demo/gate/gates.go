// Package gate holds a run of the gears, and lets single items through. A gate is a decorator on a
// seam between two gears. While it is closed, items wait in front of it, and everything else goes
// on: timers, producers, other gates. Hooks cannot be gates, because some of them run under locks.
//
//	gate  holds                              decorates
//	G2    the next pop of the delta queue    the informer's queue, which pops one key at a time then
//	G4    a handler call                     the handler, by informer.Config.WrapHandler
//	G5    a key for a worker, after Get      the work queue
//	G6    a request about a resource         the transport of a client
//	G7    a key before Done                  the work queue
//
// [New] returns the gates of a run, all open. [HoldInformer], [HoldQueue] and [HoldRequests]
// wire a run with them. A controller with gates has no time limit for a pass and none for a silent
// watch, since an item may wait for an hour. A script or a page moves the items, by Close, Step,
// RunTo, Open and Release.
//
// A guided scene asks its reader a [Question] and reveals the answer later. [Gates.Ask] waits for
// the choice that the page sends. Until then the gates are the scene's.
//
// No lock of a gear is held while an item waits, with any form of the gears, and its producers
// never wait. A gate passes items in their order. Gates open for good when the run's context ends,
// and an item stops waiting when what it belongs to ends: its informer, its queue, its request.
//
// What a script or a page does to the gates is an input of the recording, which also has lab.held
// for each item that waits, lab.stepped for each that goes on alone, and lab.released for each gate
// that was opened.
package gate

import (
	"context"
	"slices"
	"strings"
	"sync"

	"orrery/internal/observe/trace"
)

// ID is the name of a gate.
type ID string

// The gates, in the order of the pipeline. G1 and G3 are gates of older recordings.
const (
	G2 ID = "G2" // the next pop
	G4 ID = "G4" // a handler call
	G5 ID = "G5" // a key for a worker
	G6 ID = "G6" // a request
	G7 ID = "G7" // a key before Done
)

// IDs returns the names of all gates.
func IDs() []ID { return []ID{G2, G4, G5, G6, G7} }

// Item is what waits at a gate. Fields that a gate does not know are empty.
type Item struct {
	Gate     ID
	Key      string
	Event    string // G4: add, update, delete
	Verb     string // G6
	Resource string // the name of the informer or work queue; G6: kubectl's name of the resource
	Handler  string // G4: its name
	Deltas   string // G2: a letter for each delta, as in a recording
	Failures int    // G5, G7
}

// Gates are the gates of one run. [New] returns them open. All methods may be called from any
// goroutine, and on nil Gates, which hold nothing.
type Gates struct {
	recorder *trace.Recorder
	question Question      // of the scene
	chosen   chan struct{} // closed when the reader has chosen an answer; nil: the scene asks nothing
	once     sync.Once

	mu       sync.Mutex // a leaf, but for the recorder's
	gates    map[ID]*gate
	runTo    *Condition // of a run: all gates are open; nil: none
	arrivals uint64     // of items that had to wait
	ended    bool       // nothing is held any more
	changed  chan struct{}
}

// gate is the state of one gate, guarded by Gates.mu.
type gate struct {
	wired   bool // a seam of the run has it
	closed  bool
	only    Condition // what it holds while it is closed
	waiting []*waiter // the oldest first
}

type waiter struct {
	number uint64 // in the order of arrival, over all gates
	item   Item
	passed chan struct{} // closed when the item may go on
}

// New returns the gates of a run. They open for good when ctx ends.
func New(ctx context.Context, recorder *trace.Recorder) *Gates {
	g := &Gates{recorder: recorder, gates: map[ID]*gate{}, changed: make(chan struct{})}
	for _, id := range IDs() {
		g.gates[id] = &gate{}
	}
	context.AfterFunc(ctx, g.end)
	return g
}

// Wait blocks while the gate of the item holds it. The error is the cause of ctx.
func (g *Gates) Wait(ctx context.Context, item Item) error {
	if g == nil {
		return nil
	}
	w := g.arrive(item)
	if w == nil {
		return nil
	}
	select {
	case <-w.passed:
		return nil
	case <-ctx.Done():
		g.leave(w)
		return context.Cause(ctx)
	}
}

// arrive returns nil if the item may pass.
func (g *Gates) arrive(item Item) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	gate := g.gates[item.Gate]
	switch {
	case g.ended:
		return nil
	case g.runTo != nil:
		if !g.runTo.Holds(item) {
			return nil
		}
		g.runTo = nil
		gate.closed, gate.only = true, Condition{}
	case !gate.closed || !gate.only.Holds(item):
		return nil
	}
	g.arrivals++
	w := &waiter{number: g.arrivals, item: item, passed: make(chan struct{})}
	gate.waiting = append(gate.waiting, w)
	g.recorder.Held(string(item.Gate), item.Resource, item.Key)
	g.changedLocked()
	return w
}

// leave removes a waiter whose context has ended.
func (g *Gates) leave(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.gates[w.item.Gate].waiting, w); i >= 0 {
		g.passLocked(w.item.Gate, i)
	}
}

// passLocked lets one item through, alone.
func (g *Gates) passLocked(id ID, i int) Item {
	gate := g.gates[id]
	w := gate.waiting[i]
	gate.waiting = slices.Delete(gate.waiting, i, i+1)
	close(w.passed)
	g.recorder.Stepped(string(id), w.item.Resource, w.item.Key)
	g.changedLocked()
	return w.item
}

// openLocked opens a gate and lets all items through.
func (g *Gates) openLocked(id ID) {
	gate := g.gates[id]
	if !gate.closed {
		return
	}
	gate.closed = false
	for _, w := range gate.waiting {
		close(w.passed)
	}
	gate.waiting = nil
	g.recorder.Released(string(id))
	g.changedLocked()
}

func (g *Gates) changedLocked() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// change calls f with the lock held, unless the gates are nil or open for good.
func (g *Gates) change(f func()) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		f()
		g.changedLocked()
	}
}

// Close closes a gate: items that meet the condition wait, all if it is the zero Condition. Waiting
// items that do not meet it go on. A run to a condition ends.
func (g *Gates) Close(id ID, only Condition) {
	g.change(func() {
		g.recorder.Input("close", strings.TrimSpace(string(id)+" "+only.String()))
		g.runTo = nil
		gate := g.gates[id]
		gate.closed, gate.only = true, only
		for i := 0; i < len(gate.waiting); {
			if only.Holds(gate.waiting[i].item) {
				i++
			} else {
				g.passLocked(id, i)
			}
		}
	})
}

// Open opens a gate.
func (g *Gates) Open(id ID) {
	g.change(func() {
		if g.gates[id].closed {
			g.recorder.Input("open", string(id))
			g.openLocked(id)
		}
	})
}

// Step lets the oldest item at a gate through. It returns false if none waits there.
func (g *Gates) Step(id ID) (item Item, ok bool) {
	g.change(func() {
		if ok = len(g.gates[id].waiting) > 0; ok {
			g.recorder.Input("step", strings.TrimSpace(string(id)+" "+g.gates[id].waiting[0].item.Key))
			item = g.passLocked(id, 0)
		}
	})
	return item, ok
}

// RunTo opens all gates until an item meets the condition, which then waits: its gate closes.
func (g *Gates) RunTo(condition Condition) {
	g.change(func() {
		g.recorder.Input("run", condition.String())
		g.releaseLocked()
		g.runTo = &condition
	})
}

// Release opens every gate and ends a run to a condition, unless a question is open: until the
// answer the gates are the scene's.
func (g *Gates) Release() {
	if !g.answered() {
		return
	}
	g.change(func() {
		if g.runTo != nil || slices.ContainsFunc(IDs(), func(id ID) bool { return g.gates[id].closed }) {
			g.recorder.Input("release", "")
		}
		g.releaseLocked()
	})
}

func (g *Gates) releaseLocked() {
	g.runTo = nil
	for _, id := range IDs() {
		g.openLocked(id)
	}
}

// end opens the gates for good.
func (g *Gates) end() {
	g.change(func() {
		g.ended = true
		g.releaseLocked()
	})
}

// Waiting returns the items that wait at a gate, the oldest first.
func (g *Gates) Waiting(id ID) (items []Item) {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, w := range g.gates[id].waiting {
		items = append(items, w.item)
	}
	return items
}

// wire records that the run has a gate.
func (g *Gates) wire(ids ...ID) {
	g.change(func() {
		for _, id := range ids {
			g.gates[id].wired = true
		}
	})
}

// holds reports whether a gate may hold items at present. A decorator that has to look for its item
// asks first.
func (g *Gates) holds(id ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.ended && (g.gates[id].closed || g.runTo != nil)
}
