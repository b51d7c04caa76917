package machine

import (
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// input is what happened, as the machine sees it. The objects themselves do not pass through the machine; the
// shell holds them and does with them what the effects say.
type input struct {
	kind Input
	now  time.Duration // since the start of Run

	rv       string          // PageListed, Event, Bookmark: the version it carries
	token    string          // PageListed: where the next page is
	added    bool            // Event: an ADDED one
	initial  bool            // Bookmark: the initial events end here
	cause    reflector.Cause // ...Failed
	err      error           // ...Failed
	delay    time.Duration   // DelayDrawn
	askAfter time.Duration   // ...Failed: the server asked to wait this long
	lives    bool            // Opened: the connection is tested while nothing comes
	owned    bool            // Replaced: the versions of the objects are their own, not those of one counter
	limit    time.Duration   // Opened: the server was asked to end it after this time; 0: not known
	mute     bool            // connections are not tested while nothing comes, as far as the ListerWatcher knows
	dead     bool            // StreamFailed: such a test has found the connection dead
}

// effectKind is one thing that the shell is told to do.
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
	effectNoteZombie // the connection was dead, and no error said so (trace)
	effectNoteLister // the streaming list is given up for a list (trace)
	effectKindCount
)

var effectNames = [effectKindCount]string{
	"List", "Open", "Read", "Wait", "Halt", "Replace", "Resync", "Draw", "KeepPage", "Collect", "Discard", "Apply", "Mark",
	"Close", "Report", "NoteGone", "NoteIdle", "NoteZombie", "NoteLister"}

func (k effectKind) String() string { return effectNames[k] }

// isOperation tells whether the effect replaces what the shell's goroutine does.
func (k effectKind) isOperation() bool { return k <= effectHalt }

// hasOutcome tells whether an input follows from the effect before anything else can happen. Such an effect is
// the last of its step.
func (k effectKind) hasOutcome() bool { return k >= effectReplace && k <= effectDraw }

// effect is one thing to do, with what it needs.
type effect struct {
	kind    effectKind
	options api.ListOptions // List, Open (its time limit is left to the shell, which has the dice)
	brief   bool            // Open: with a limit that ends it before its silence would be too long
	verify  bool            // Open: only if the server has reached the version of options
	rv      string          // Replace, Mark, NoteGone, Close
	err     error           // Report, Draw, Close, NoteGone, NoteLister

	fresh   bool          // Draw: begin at the beginning
	atLeast time.Duration // Draw: what the server asked for

	by       string        // NoteZombie: what noticed
	streamed bool          // Replace: from a streaming list
	pages    int           // Replace
	events   int           // Close: delivered by the stream
	lasted   time.Duration // Replace, Close, NoteIdle, NoteZombie: for how long it went on
}
