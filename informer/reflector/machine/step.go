package machine

import (
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// step is the machine: it changes s according to the input and adds the effects. It depends only on
// its arguments. An input without a row in this phase (a timer that fired while the phase was left)
// changes nothing.
//
// State and effects are changed in place because every event is a step: passing them by value took
// half of the time.
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
	on   inputKind
	when condition // the zero value always holds
	to   reflector.Phase
	do   action
}

// condition is a predicate of the state and the input, with its words in the diagram.
type condition struct {
	text  string
	holds func(r *rules, s *state, in *input) bool
}

// action changes the state and adds the effects of a transition. Afterwards the phase is set from
// the table.
type action func(r *rules, s *state, in *input, do *effects)

// then performs two actions in order, both in the old phase.
func then(first, second action) action {
	return func(r *rules, s *state, in *input, do *effects) {
		first(r, s, in, do)
		second(r, s, in, do)
	}
}

// transitions is the table, indexed by phase and input. The first row whose condition holds is
// taken.
var transitions = func() (index [phaseCount][inputCount][]transition) {
	for _, row := range table {
		index[row.from][row.on] = append(index[row.from][row.on], row)
	}
	return index
}()

// input is an input as the machine sees it. The shell keeps the objects and uses them as the
// effects require.
type input struct {
	kind inputKind
	now  time.Duration // since the start of Run

	rv          string          // PageListed, Event, Bookmark: the version
	token       string          // PageListed: the continue token of the next page
	items       int             // PageListed: the number of its items
	added       bool            // Event: its type is ADDED
	initial     bool            // Bookmark: it ends the initial events
	cause       reflector.Cause // ...Failed
	err         error           // ...Failed
	delay       time.Duration   // DelayDrawn, Throttled
	retryAfter  time.Duration   // ...Failed: the server asked to wait this long
	keepalive   bool            // Opened: the connection has a keepalive
	noKeepalive bool            // the next connection has no keepalive, as far as the ListerWatcher knows
}

// effectKind is a kind of effect, which the shell performs.
type effectKind int

// The first group is the next operation of Run's goroutine, which takes time; its outcome is an
// input.
const (
	effectList effectKind = iota // request the page of options: PageListed, ListFailed
	effectOpen                   // open the stream of options: Opened, OpenFailed
	effectRead                   // read the open stream: Event, Bookmark, StreamEnded, StreamFailed
	effectWait                   // wait for a timer
	effectHalt                   // return from Run
	// The second group is performed at once and has an outcome as well.
	effectReplace // make the collected objects the content of the store: Replaced, ReplaceFailed
	effectResync  // resync the store: ResyncFailed, or no outcome
	effectDraw    // draw the length of a back-off: DelayDrawn
	// The third group is performed at once.
	effectKeepPage   // collect the items of the page
	effectCollect    // collect the event
	effectDiscard    // drop the collected items
	effectApply      // pass the event to the store
	effectMark       // tell the store that it is at rv, unless that is empty
	effectClose      // end the stream, or the attempt to open one
	effectReport     // pass err to the WatchErrorHandler
	effectNoteGone   // trace: the position rv is lost
	effectNoteIdle   // trace: the server was silent for too long
	effectNoteLister // trace: list instead of streaming
	effectKindCount
)

var effectNames = [effectKindCount]string{
	"List", "Open", "Read", "Wait", "Halt", "Replace", "Resync", "Draw", "KeepPage", "Collect", "Discard",
	"Apply", "Mark",
	"Close", "Report", "NoteGone", "NoteIdle", "NoteLister"}

func (k effectKind) String() string { return effectNames[k] }

// effect is an effect with its arguments.
type effect struct {
	kind    effectKind
	options api.ListOptions // List, Open (the shell draws its time limit)
	short   bool            // Open: with a limit that ends it before its idle timeout
	verify  bool            // Open: only if the server has reached the version of options
	rv      string          // Replace, Mark, NoteGone, Close
	err     error           // Report, Draw, Close, NoteGone, NoteLister

	fresh   bool          // Draw: restart the sequence of delays
	atLeast time.Duration // Draw: the server's Retry-After

	streamed bool          // Replace: from a streaming list
	pages    int           // Replace
	events   int           // Close: delivered by the stream
	lasted   time.Duration // Replace, Close, NoteIdle: duration
}

// effects are the effects of a step, in order. The array is reused, so a step allocates nothing.
type effects struct {
	list [maxEffects]effect
	n    int
}

// maxEffects is more than any row of the table needs.
const maxEffects = 8

// add appends an effect and returns it, for its arguments to be set.
func (do *effects) add(kind effectKind) *effect {
	e := &do.list[do.n]
	*e = effect{kind: kind}
	do.n++
	return e
}

// last returns the last effect.
func (do *effects) last() *effect { return &do.list[do.n-1] }

// close adds the effect that ends the stream of the phase, or the attempt to open one.
func (do *effects) close(s *state, in *input, err error) {
	e := do.add(effectClose)
	e.rv, e.err, e.events, e.lasted = s.ResourceVersion, err, s.stream.delivered, in.now-s.stream.openedAt
}

// The phases, by the names that the table uses.
const (
	phaseIdle          = reflector.PhaseIdle
	phaseOpeningStream = reflector.PhaseOpeningStream
	phaseStreaming     = reflector.PhaseStreaming
	phaseListing       = reflector.PhaseListing
	phaseReplacing     = reflector.PhaseReplacing
	phaseOpeningWatch  = reflector.PhaseOpeningWatch
	phaseWatching      = reflector.PhaseWatching
	phaseBackingOff    = reflector.PhaseBackingOff
	phaseStopped       = reflector.PhaseStopped
	phaseCount         = phaseStopped + 1
)

// inputKind is what happens to the machine: an answer arrives, a timer fires, the context of Run
// ends.
type inputKind int

// The inputs.
const (
	inputStart           inputKind = iota // Run was called
	inputPageListed                       // a page of a list has arrived
	inputListFailed                       // the list request failed
	inputOpened                           // a watch or a streaming list is open
	inputOpenFailed                       // the watch or streaming list could not be opened
	inputEvent                            // an object was added, modified or deleted
	inputBookmark                         // the stream has reached a version
	inputStreamEnded                      // the server ended the stream normally
	inputStreamFailed                     // an ERROR event, or a broken connection
	inputReplaced                         // the store has accepted the complete state
	inputReplaceFailed                    // the store has refused it
	inputDelayDrawn                       // the random length of a back-off is known
	inputBackOffElapsed                   // the back-off is over
	inputIdleElapsed                      // the idle timer has fired
	inputDeadlineElapsed                  // the list request or the streaming list takes too long
	inputThrottled                        // the request waits for the client's own rate limiter, for a known time
	inputResyncElapsed                    // a resync is due
	inputResyncFailed                     // the store could not resync
	inputStop                             // the context of Run has ended
	inputCount
)

var inputNames = [inputCount]string{
	"Start", "PageListed", "ListFailed", "Opened", "OpenFailed", "Event", "Bookmark", "StreamEnded", "StreamFailed",
	"Replaced", "ReplaceFailed", "DelayDrawn", "BackOffElapsed", "IdleElapsed", "DeadlineElapsed", "Throttled",
	"ResyncElapsed", "ResyncFailed", "Stop"}

func (i inputKind) String() string { return inputNames[i] }
