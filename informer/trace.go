package informer

import "time"

// Trace is a set of callbacks by which a program watches an informer at work, in the manner of
// net/http/httptrace. A nil Trace, or a nil field, costs one branch.
//
// Unless it says otherwise a callback runs on the goroutine that does what is reported and holds no lock of the
// informer; it has to be quick, may be called concurrently with the others, and may ask for a Snapshot.
type Trace struct {
	// Started and Stopped frame Run. Stopped comes when every goroutine of the informer has ended.
	Started func(informer string)
	Stopped func(informer string)
	// Synced: the first list is in the store.
	Synced func(informer string)

	// HandlerAdded: a handler was registered; initial is the number of objects that it is going to be told of
	// from the store.
	HandlerAdded func(h HandlerInfo, initial int)
	// HandlerRemoved: a handler was removed. It may still be working off what waits, see HandlerEnded.
	HandlerRemoved func(h HandlerInfo)
	// HandlerEnded: the last callback of a handler has returned; dropped is the number of events that it was
	// not told of, because it was removed or because the informer stopped.
	HandlerEnded func(h HandlerInfo, dropped int)
	// HandlerSynced: a handler has been told of the whole initial list.
	HandlerSynced func(h HandlerInfo)
	// HandlerLagging: more events wait for a handler than ever before, reported at 1,024 and at each doubling.
	HandlerLagging func(h HandlerInfo, pending int)
	// HandlerStuck: a callback has been running for [StuckAfter], for twice that, and so on. It is called on a goroutine
	// of its own, which the informer has only if the hook is set.
	HandlerStuck func(s StuckHandler)
	// HandlerPanicked: a callback panicked. Reported before the process dies of it, or goes on.
	HandlerPanicked func(h HandlerInfo, kind EventKind, key string, value any)

	// Distributed: an event was handed to listeners of that number. The queue's process function calls it. The textbook
	// queue holds its lock meanwhile, so with that queue the hook must not ask for a Snapshot.
	Distributed func(kind EventKind, key string, listeners int)
	// Handled: a callback returned after took.
	Handled func(h HandlerInfo, kind EventKind, key string, took time.Duration)

	// ResyncDue: handlers of that number are due for a resync, which starts now. The reflector waits.
	ResyncDue func(informer string, handlers int)
	// ProcessError: an event could not be applied in full.
	ProcessError func(informer string, err *ProcessError)
	// Mutated: the mutation detector found a shared object changed.
	Mutated func(informer string, err *MutationError)
}

// HandlerInfo tells one registration from the others.
type HandlerInfo struct {
	Informer string // Config.Name
	Handler  string // HandlerOptions.Name, or the type of the handler
	ID       uint64 // unique in the informer, rising in the order of registration
}
