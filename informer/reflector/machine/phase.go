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

// The inputs.
const (
	InputStart           Input = iota // Run was called
	InputPageListed                   // a page of a list has arrived
	InputListFailed                   // the list request failed
	InputOpened                       // a watch or a streaming list is open
	InputOpenFailed                   // the watch or streaming list could not be opened
	InputEvent                        // an object was added, modified or deleted
	InputBookmark                     // the stream has reached a version
	InputStreamEnded                  // the server ended the stream normally
	InputStreamFailed                 // an ERROR event, or a broken connection
	InputReplaced                     // the store has accepted the complete state
	InputReplaceFailed                // the store has refused it
	InputDelayDrawn                   // the random length of a back-off is known
	InputBackOffElapsed               // the back-off is over
	InputIdleElapsed                  // the server was silent for too long
	InputDeadlineElapsed              // the list request or the streaming list takes too long
	InputThrottled                    // the request waits for the client's own rate limiter, for a known time
	InputResyncElapsed                // a resync is due
	InputResyncFailed                 // the store could not resync
	InputStop                         // the context of Run has ended
	inputCount
)

var inputNames = [inputCount]string{
	"Start", "PageListed", "ListFailed", "Opened", "OpenFailed", "Event", "Bookmark", "StreamEnded", "StreamFailed",
	"Replaced", "ReplaceFailed", "DelayDrawn", "BackOffElapsed", "IdleElapsed", "DeadlineElapsed", "Throttled", "ResyncElapsed",
	"ResyncFailed", "Stop"}

func (i Input) String() string { return inputNames[i] }
