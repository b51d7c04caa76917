package reflector

import "time"

// Snapshot is what a Reflector was doing at one moment, as plain data.
type Snapshot struct {
	Name  string
	Phase Phase
	// ResourceVersion is the version that the store has; "" before the first list.
	ResourceVersion string
	// ResourceVersionRefused: the server will not accept it again; the next list is a consistent read.
	ResourceVersionRefused bool
	// Synced: the store has had a whole state at least once.
	Synced bool
	// StreamingList: the next whole state is asked for as a stream.
	StreamingList bool

	Rounds    int // times that the whole state was asked for
	Lists     int // list requests, each page one
	Watches   int // watches and streaming lists asked for
	Events    int // changes received
	Stale     int // changes received that were no news: their version is not newer than the position. The store was not told
	Bookmarks int

	// Failures in a row without health between them.
	Failures int
	// LastError is why the last back-off, or the last fall-back to a list, happened; nil if none did.
	LastError error
	// NextAttempt is when the back-off ends; zero outside of one.
	NextAttempt time.Time
	// StoreErrors is the number of calls of the store that failed, LastStoreError the last of them.
	StoreErrors    int
	LastStoreError *StoreError
}

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
