package machine

import (
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// step is the machine: it changes s as the input demands and adds the effects to do. It depends on nothing but its
// arguments. An input for which the table has no row in this phase (a timer that fired while the phase was left) changes
// nothing.
//
// State and effects are changed in place because a step is made for every event: half of the time of an event went into
// handing them from function to function.
func (r *rules) step(s *state, in *input, do *effects) {
	rows := transitions[s.Phase][in.kind]
	for i := range rows {
		row := &rows[i]
		if row.when.holds != nil && !row.when.holds(r, s, in) {
			continue
		}
		row.do(r, s, in, do)
		if row.to != s.Phase {
			s.Phase = row.to
			s.clearTimers()
		}
		return
	}
}

// transition is a row of the table: from a phase, on an input, if a condition holds, to a phase.
type transition struct {
	from reflector.Phase
	on   Input
	when condition // the zero value holds always
	to   reflector.Phase
	do   action
}

// condition is a question about the state and the input, with the words that the diagram uses for it.
type condition struct {
	text  string
	holds func(r *rules, s *state, in *input) bool
}

// action changes the state and adds the effects of a transition. The phase is set by the table, afterwards.
type action func(r *rules, s *state, in *input, do *effects)

// then does one action after the other, both in the phase that is left.
func then(first, second action) action {
	return func(r *rules, s *state, in *input, do *effects) {
		first(r, s, in, do)
		second(r, s, in, do)
	}
}

// transitions is the table, found by phase and input. Of several rows the first whose condition holds counts.
var transitions = func() (index [phaseCount][inputCount][]transition) {
	for _, row := range table {
		index[row.from][row.on] = append(index[row.from][row.on], row)
	}
	return index
}()

// input is what happened, as the machine sees it. The objects themselves do not pass through the machine; the
// shell holds them and does with them what the effects say.
type input struct {
	kind Input
	now  time.Duration // since the start of Run

	rv          string          // PageListed, Event, Bookmark: the version it carries
	token       string          // PageListed: where the next page is
	added       bool            // Event: an ADDED one
	initial     bool            // Bookmark: the initial events end here
	cause       reflector.Cause // ...Failed
	err         error           // ...Failed
	delay       time.Duration   // DelayDrawn, Throttled
	retryAfter  time.Duration   // ...Failed: the server asked to wait this long
	keepalive   bool            // Opened: the connection is tested while nothing comes
	owned       bool            // Replaced: the versions of the objects are their own, not those of one counter
	noKeepalive bool            // the next connection has no keepalive, as far as the ListerWatcher knows
}

// effectKind is one thing that the shell does for the machine.
type effectKind int

// The first group says what the shell's goroutine shall do next, which takes time; its outcome is an input.
const (
	effectList effectKind = iota // ask for the page of options: PageListed, ListFailed
	effectOpen                   // open the stream of options: Opened, OpenFailed
	effectRead                   // read the open stream: Event, Bookmark, StreamEnded, StreamFailed
	effectWait                   // nothing to do until a timer rings
	effectHalt                   // return from Run
	// The second group is done on the spot and has an outcome as well.
	effectReplace // make the collected objects the content of the store: Replaced, ReplaceFailed
	effectResync  // let the store resync: ResyncFailed, or nothing
	effectDraw    // draw the length of a back-off: DelayDrawn
	// The third group is done on the spot.
	effectKeepPage   // collect the items of the page that has come
	effectCollect    // collect the event that has come
	effectDiscard    // forget what was collected
	effectApply      // give the event that has come to the store
	effectMark       // tell the store that it is at rv, unless that is empty; the bookmark that has come says so
	effectClose      // end the stream, or the attempt to open one
	effectReport     // tell the WatchErrorHandler err
	effectNoteGone   // the position at rv is lost (trace)
	effectNoteIdle   // the other side was silent for too long (trace)
	effectNoteLister // the streaming list is given up for a list (trace)
	effectKindCount
)

var effectNames = [effectKindCount]string{
	"List", "Open", "Read", "Wait", "Halt", "Replace", "Resync", "Draw", "KeepPage", "Collect", "Discard", "Apply", "Mark",
	"Close", "Report", "NoteGone", "NoteIdle", "NoteLister"}

func (k effectKind) String() string { return effectNames[k] }

// effect is one thing to do, with what it needs.
type effect struct {
	kind    effectKind
	options api.ListOptions // List, Open (its time limit is left to the shell, which has the dice)
	short   bool            // Open: with a limit that ends it before its idle timeout
	verify  bool            // Open: only if the server has reached the version of options
	rv      string          // Replace, Mark, NoteGone, Close
	err     error           // Report, Draw, Close, NoteGone, NoteLister

	fresh   bool          // Draw: begin at the beginning
	atLeast time.Duration // Draw: what the server asked for

	streamed bool          // Replace: from a streaming list
	pages    int           // Replace
	events   int           // Close: delivered by the stream
	lasted   time.Duration // Replace, Close, NoteIdle: for how long it went on
}

// effects are what a step asks for, in order. The array is used again for each step, so a step allocates nothing.
type effects struct {
	list [maxEffects]effect
	n    int
}

// maxEffects is more than any row of the table asks for.
const maxEffects = 8

// add appends an effect and returns it, for its details to be filled in.
func (do *effects) add(kind effectKind) *effect {
	e := &do.list[do.n]
	*e = effect{kind: kind}
	do.n++
	return e
}

// last returns the effect that was added last.
func (do *effects) last() *effect { return &do.list[do.n-1] }

// close adds the end of the stream of the phase, or of the attempt to open one.
func (do *effects) close(s *state, in *input, err error) {
	e := do.add(effectClose)
	e.rv, e.err, e.events, e.lasted = s.ResourceVersion, err, s.delivered, in.now-s.openedAt
}
