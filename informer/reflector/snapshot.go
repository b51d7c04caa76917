package reflector

import "time"

// Snapshot is the state of a Reflector at one moment, as plain data.
type Snapshot struct {
	Name                   string
	Phase                  Phase
	ResourceVersion        string // the version that the store has; "" before the first list, or if the server has none
	ResourceVersionRefused bool   // the server has refused a list at this version; the next one is a consistent read
	Synced                 bool   // the store has had a complete state
	StreamingList          bool   // the next complete state is requested as a stream

	Rounds    int // requests of the complete state
	Lists     int // list requests, one per page
	Watches   int // requests of watches and streaming lists
	Events    int // changes received
	Bookmarks int

	Failures       int       // consecutive ones
	LastError      error     // the reason of the last back-off or fall-back to a list; nil if there was none
	NextAttempt    time.Time // when the back-off ends; zero if none runs
	StoreErrors    int       // failed calls of the store
	LastStoreError *StoreError
}

// Phase is what a Reflector is doing. TRANSITIONS.md of package machine shows how the phases follow
// each other.
type Phase int

// The phases.
const (
	PhaseIdle          Phase = iota // Run was not called yet
	PhaseOpeningStream              // a streaming list was requested
	PhaseStreaming                  // the initial events of a streaming list arrive and are collected
	PhaseListing                    // a page of a list was requested
	PhaseReplacing                  // the complete state is being stored
	PhaseOpeningWatch               // a watch was requested
	PhaseWatching                   // events arrive and are stored
	PhaseBackingOff                 // an attempt failed; the next one waits
	PhaseStopped                    // Run has ended. No phase follows
	phaseCount
)

var phaseNames = [phaseCount]string{
	"Idle", "OpeningStream", "Streaming", "Listing", "Replacing", "OpeningWatch", "Watching", "BackingOff", "Stopped"}

func (p Phase) String() string { return phaseNames[p] }
