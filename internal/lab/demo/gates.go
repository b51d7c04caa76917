package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
)

// GateID is the name of a gate.
type GateID string

// The gates, in the order of the pipeline. G1, G3 and G6 are gates of older recordings.
const (
	G2 GateID = "G2" // the next pop
	G4 GateID = "G4" // a handler call
	G5 GateID = "G5" // a key for a worker
	G7 GateID = "G7" // a key before Done
)

// GateIDs returns the names of all gates.
func GateIDs() []GateID { return []GateID{G2, G4, G5, G7} }

// Item is what waits at a gate.
type Item struct {
	Gate     GateID
	Resource string // the name of the informer or work queue
	Key      string
	Failures int // G5, G7
}

// Filter selects the items that a closed gate holds. The zero Filter selects all.
type Filter struct {
	Resource string // "": any
	Failures int    // at least
}

func (f Filter) holds(item Item) bool {
	return (f.Resource == "" || f.Resource == item.Resource) && item.Failures >= f.Failures
}

// String returns the filter for a reader; "" if it selects all.
func (f Filter) String() string {
	if f.Failures > 0 {
		return strings.TrimSpace(fmt.Sprintf("%s failures>=%d", f.Resource, f.Failures))
	}
	return f.Resource
}

// Gates hold one run of the gears, and let single items through. A gate is a decorator on a seam
// between two gears. While it is closed, items wait in front of it, and everything else goes on:
// timers, producers, other gates. Hooks cannot be gates, because some of them run under locks.
//
//	gate  holds                              decorates
//	G2    the next pop of the delta queue    the informer's queue, which pops one key at a time then
//	G4    a handler call                     the handler, by informer.Config.WrapHandler
//	G5    a key for a worker, after Get      the work queue
//	G7    a key before Done                  the work queue
//
// [NewGates] returns them open. [HoldInformer] and [HoldQueue] wire a run with them. A script or a
// page moves the items, by Close, Step, Open and Release. No pass and no request waits at a gate,
// so their time limits stay. All methods may be called from any goroutine, and on nil Gates, which
// hold nothing.
//
// A guided scene asks its reader a [Question] and reveals the answer later. [Gates.Ask] waits for
// the choice that the page sends. Until then the gates are the scene's.
//
// No lock of a gear is held while an item waits, with any form of the gears, and its producers
// never wait. A gate passes items in their order. Gates open for good when the run's context ends,
// and an item stops waiting when its informer or its queue ends.
//
// What a script or a page does to the gates is an input of the recording, which also has lab.held
// for each item that waits, lab.stepped for each that goes on alone, and lab.released for each gate
// that was opened.
type Gates struct {
	recorder *trace.Recorder
	question Question      // of the scene
	chosen   chan struct{} // closed when the reader has chosen an answer; nil: the scene asks nothing
	open     atomic.Bool   // the question has no answer yet

	mu      sync.Mutex // a leaf, but for the recorder's
	gates   map[GateID]*gate
	waiting []*waiter // at all gates, the oldest first
	ended   bool      // nothing is held any more
	changed chan struct{}
}

// gate is the state of one gate, guarded by Gates.mu.
type gate struct {
	wired  bool // a seam of the run has it
	closed bool
	only   Filter // what it holds while it is closed
}

type waiter struct {
	item   Item
	passed chan struct{} // closed when the item may go on
}

// NewGates returns the gates of a run. They open for good when ctx ends.
func NewGates(ctx context.Context, recorder *trace.Recorder) *Gates {
	g := &Gates{recorder: recorder, gates: map[GateID]*gate{}, changed: make(chan struct{})}
	for _, id := range GateIDs() {
		g.gates[id] = &gate{}
	}
	context.AfterFunc(ctx, g.end)
	return g
}

// Wait blocks while the gate of the item holds it, until ctx ends.
func (g *Gates) Wait(ctx context.Context, item Item) {
	w := g.arrive(item)
	if w == nil {
		return
	}
	select {
	case <-w.passed:
	case <-ctx.Done():
		g.leave(w)
	}
}

// arrive returns nil if the item may pass.
func (g *Gates) arrive(item Item) *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate := g.gates[item.Gate]; g.ended || !gate.closed || !gate.only.holds(item) {
		return nil
	}
	w := &waiter{item: item, passed: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.recorder.Held(string(item.Gate), item.Resource, item.Key)
	g.changedLocked()
	return w
}

// leave removes a waiter whose context has ended.
func (g *Gates) leave(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.waiting, w) {
		g.passLocked(w)
	}
}

// passLocked lets one item through, alone.
func (g *Gates) passLocked(w *waiter) {
	g.waiting = slices.DeleteFunc(g.waiting, func(one *waiter) bool { return one == w })
	close(w.passed)
	g.recorder.Stepped(string(w.item.Gate), w.item.Resource, w.item.Key)
	g.changedLocked()
}

// openLocked opens a gate and lets all items through.
func (g *Gates) openLocked(id GateID) {
	if !g.gates[id].closed {
		return
	}
	g.gates[id].closed = false
	g.waiting = slices.DeleteFunc(g.waiting, func(w *waiter) bool {
		if w.item.Gate == id {
			close(w.passed)
		}
		return w.item.Gate == id
	})
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

// Close closes a gate for the items that the filter selects. Waiting items that it does not select
// go on.
func (g *Gates) Close(id GateID, only Filter) {
	g.change(func() {
		g.recorder.Input("close", strings.TrimSpace(string(id)+" "+only.String()))
		g.gates[id].closed, g.gates[id].only = true, only
		for _, w := range slices.Clone(g.waiting) {
			if w.item.Gate == id && !only.holds(w.item) {
				g.passLocked(w)
			}
		}
	})
}

// Open opens a gate.
func (g *Gates) Open(id GateID) {
	g.change(func() {
		if g.gates[id].closed {
			g.recorder.Input("open", string(id))
			g.openLocked(id)
		}
	})
}

// Step lets the oldest item at a gate through, if one waits there. The gate "" is any.
func (g *Gates) Step(id GateID) {
	g.change(func() {
		for _, w := range g.waiting {
			if id == "" || id == w.item.Gate {
				g.recorder.Input("step", strings.TrimSpace(string(w.item.Gate)+" "+w.item.Key))
				g.passLocked(w)
				return
			}
		}
	})
}

// Release opens every gate, unless a question is open: until the answer the gates are the scene's.
func (g *Gates) Release() {
	if g != nil && g.open.Load() {
		return
	}
	g.change(func() {
		if slices.ContainsFunc(GateIDs(), func(id GateID) bool { return g.gates[id].closed }) {
			g.recorder.Input("release", "")
		}
		g.releaseLocked()
	})
}

func (g *Gates) releaseLocked() {
	for _, id := range GateIDs() {
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

// wire records that the run has a gate.
func (g *Gates) wire(ids ...GateID) {
	g.change(func() {
		for _, id := range ids {
			g.gates[id].wired = true
		}
	})
}

// holds reports whether a gate may hold items at present. A decorator that has to look for its item
// asks first.
func (g *Gates) holds(id GateID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.ended && g.gates[id].closed
}

// Question is what a guided scene asks its reader. Its sentences are those of the page, by the
// scene's name.
type Question struct {
	Scene string
	// Choices are the possible answers, in the order of the page; none: the scene asks nothing. They
	// are identifiers and numbers, the same in every language.
	Choices []string
	// Answer is the one of Choices that sound gears give.
	Answer string
}

// Guide leads a reader through a scene that asks a question; others have no guide. It must be
// called before the scene begins.
func (g *Gates) Guide(question Question) {
	if len(question.Choices) > 0 {
		g.question, g.chosen = question, make(chan struct{})
		g.open.Store(true)
	}
}

// Guided reports whether there is a reader to lead. Without one, Chapter, Ask and Reveal do
// nothing.
func (g *Gates) Guided() bool { return g != nil && g.chosen != nil }

// Chapter begins a chapter of the scene's story.
func (g *Gates) Chapter(name string) {
	if g.Guided() {
		g.recorder.Chapter(name)
	}
}

// Ask asks the scene's question and blocks until the reader has chosen an answer. The error is the
// cause of ctx.
func (g *Gates) Ask(ctx context.Context) error {
	if !g.Guided() {
		return nil
	}
	g.recorder.Question(g.question.Scene, g.question.Choices)
	select {
	case <-g.chosen:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Reveal records the answer.
func (g *Gates) Reveal() {
	if g.Guided() {
		g.recorder.Answer(g.question.Scene, g.question.Answer)
	}
}

var _ web.Control = (*Gates)(nil)

// Do carries out a command of a page. Until the answer the gates are the scene's, because its
// question is about what they hold.
func (g *Gates) Do(c web.Command) error {
	if c.Do == "answer" {
		if g.open.CompareAndSwap(true, false) { // the first answer counts
			g.recorder.Input("answer", c.Choice)
			close(g.chosen)
		}
		return nil
	}
	if g.open.Load() {
		return errors.New("the gates are the scene's until its question is answered")
	}
	id := GateID(c.Gate)
	if (c.Do == "close" || c.Do == "open") && !slices.Contains(GateIDs(), id) {
		return fmt.Errorf("there is no gate %q", c.Gate)
	}
	switch c.Do {
	case "close":
		g.Close(id, Filter{Resource: c.Resource})
	case "open":
		g.Open(id)
	case "step":
		g.Step("")
	case "release":
		g.Release()
	default:
		return fmt.Errorf("there is no command %q", c.Do)
	}
	return nil
}

// State returns what the page shows of the gates, and a channel that is closed when it changes.
func (g *Gates) State() (state web.ControlState, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range GateIDs() {
		gate := g.gates[id]
		shown := web.GateState{Name: string(id), Wired: gate.wired, Closed: gate.closed, Where: gate.only.String()}
		for _, w := range g.waiting {
			if w.item.Gate == id {
				shown.Waiting++
			}
		}
		state.Gates = append(state.Gates, shown)
	}
	return state, g.changed
}
