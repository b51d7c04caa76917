package machine

import "orrery/informer/reflector"

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

// Input is an event for the machine: an answer arrives, a timer fires, the context of Run ends.
type Input int

const (
	// InputStart: Run was called.
	InputStart Input = iota
	// InputPageListed: a page of a list has arrived.
	InputPageListed
	// InputListFailed: the list request failed.
	InputListFailed
	// InputOpened: a watch or a streaming list is open.
	InputOpened
	// InputOpenFailed: the watch or streaming list could not be opened.
	InputOpenFailed
	// InputEvent: an object was added, modified or deleted.
	InputEvent
	// InputBookmark: the stream has reached a version.
	InputBookmark
	// InputStreamEnded: the server ended the stream normally.
	InputStreamEnded
	// InputStreamFailed: an ERROR event, or a broken connection.
	InputStreamFailed
	// InputReplaced: the store has accepted the complete state.
	InputReplaced
	// InputReplaceFailed: the store has refused it.
	InputReplaceFailed
	// InputDelayDrawn: the random length of a back-off is known.
	InputDelayDrawn
	// InputBackOffElapsed: the back-off is over.
	InputBackOffElapsed
	// InputIdleElapsed: the server was silent for too long.
	InputIdleElapsed
	// InputDeadlineElapsed: the list request or the streaming list takes too long.
	InputDeadlineElapsed
	// InputThrottled: the request waits for the client's own rate limiter, for a known time.
	InputThrottled
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
	"Replaced", "ReplaceFailed", "DelayDrawn", "BackOffElapsed", "IdleElapsed", "DeadlineElapsed", "Throttled", "ResyncElapsed",
	"ResyncFailed", "Stop"}

func (i Input) String() string { return inputNames[i] }
