package reflector

// Phase is what a Reflector is doing. The diagram in the package documentation shows how the phases follow each
// other.
type Phase int

const (
	// PhaseIdle: Run was not called yet.
	PhaseIdle Phase = iota
	// PhaseOpeningStream: a streaming list was asked for.
	PhaseOpeningStream
	// PhaseStreaming: the initial events of a streaming list arrive and are collected beside the store.
	PhaseStreaming
	// PhaseListing: a page of a list was asked for.
	PhaseListing
	// PhaseReplacing: the whole state is complete and on its way into the store.
	PhaseReplacing
	// PhaseOpeningWatch: a watch was asked for.
	PhaseOpeningWatch
	// PhaseWatching: events arrive and go into the store.
	PhaseWatching
	// PhaseBackingOff: something failed; the next attempt waits for its time.
	PhaseBackingOff
	// PhaseStopped: the end. Nothing leads out of it.
	PhaseStopped
	phaseCount
)

var phaseNames = [phaseCount]string{
	"Idle", "OpeningStream", "Streaming", "Listing", "Replacing", "OpeningWatch", "Watching", "BackingOff", "Stopped"}

func (p Phase) String() string { return phaseNames[p] }

// Input is what can happen to a Reflector: an answer arrives, a time is reached, somebody stops it.
type Input int

const (
	// InputStart: Run was called.
	InputStart Input = iota
	// InputPageListed: a page of a list has come.
	InputPageListed
	// InputListFailed: it has not.
	InputListFailed
	// InputOpened: a watch or a streaming list is open.
	InputOpened
	// InputOpenFailed: it is not.
	InputOpenFailed
	// InputEvent: an object was added, modified or deleted.
	InputEvent
	// InputBookmark: the stream has come as far as a version.
	InputBookmark
	// InputStreamEnded: the server ended the stream in good order.
	InputStreamEnded
	// InputStreamFailed: an ERROR event, or a broken connection.
	InputStreamFailed
	// InputReplaced: the store took the whole state.
	InputReplaced
	// InputReplaceFailed: it did not.
	InputReplaceFailed
	// InputDelayDrawn: chance has decided how long to back off.
	InputDelayDrawn
	// InputBackOffElapsed: so much time has passed.
	InputBackOffElapsed
	// InputIdleElapsed: the other side was silent for too long.
	InputIdleElapsed
	// InputDeadlineElapsed: the list request or the streaming list takes too long.
	InputDeadlineElapsed
	// InputResyncElapsed: a resync is due.
	InputResyncElapsed
	// InputResyncFailed: the store could not resync.
	InputResyncFailed
	// InputStop: the context of Run has ended.
	InputStop
	inputCount
)

var inputNames = [inputCount]string{
	"Start", "PageListed", "ListFailed", "Opened", "OpenFailed", "Event", "Bookmark", "StreamEnded", "StreamFailed",
	"Replaced", "ReplaceFailed", "DelayDrawn", "BackOffElapsed", "IdleElapsed", "DeadlineElapsed", "ResyncElapsed",
	"ResyncFailed", "Stop"}

func (i Input) String() string { return inputNames[i] }
