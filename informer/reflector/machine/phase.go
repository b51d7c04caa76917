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
