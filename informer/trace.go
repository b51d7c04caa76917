package informer

import "time"

// Trace is a set of hooks that observe an informer, in the manner of net/http/httptrace. A nil
// Trace or field costs one branch.
//
// Unless documented otherwise, a hook runs on the goroutine that causes the event, without a lock
// of the informer. It must be quick, may run concurrently with the others, and may call Snapshot.
type Trace struct {
	// Started and Stopped frame Run. Stopped is called when every goroutine of the informer has
	// ended.
	Started func(informer string)
	Stopped func(informer string)
	// Synced: the first list is in the store.
	Synced func(informer string)

	// HandlerAdded: a handler was registered; initial is the number of objects in its initial
	// content.
	HandlerAdded func(h HandlerInfo, initial int)
	// HandlerRemoved: a handler was removed. It may still process its backlog, see HandlerEnded.
	HandlerRemoved func(h HandlerInfo)
	// HandlerEnded: the last callback of a handler has returned; dropped is the number of
	// undelivered events, because it was removed or the informer stopped.
	HandlerEnded func(h HandlerInfo, dropped int)
	// HandlerSynced: a handler has processed the whole initial list.
	HandlerSynced func(h HandlerInfo)
	// HandlerLagging: a handler has more waiting events than ever before; reported at 1,024 and at
	// each doubling.
	HandlerLagging func(h HandlerInfo, pending int)
	// HandlerStuck: a callback has been running for [StuckAfter], for twice that, and so on. It is
	// called on a separate goroutine, which exists only if the hook is set.
	HandlerStuck func(s StuckHandler)
	// HandlerPanicked: a callback panicked. Called before the process ends or continues.
	HandlerPanicked func(h HandlerInfo, kind EventKind, key string, value any)

	// Distributed: an event was distributed to this many listeners. The queue's process function
	// calls it. The textbook queue holds its lock meanwhile, so with that queue the hook must not
	// call Snapshot.
	Distributed func(kind EventKind, key string, listeners int)
	// Handled: a callback returned after took.
	Handled func(h HandlerInfo, kind EventKind, key string, took time.Duration)

	// ResyncDue: this many handlers are due for a resync, which starts now. The reflector waits.
	ResyncDue func(informer string, handlers int)
	// ProcessError: an event could not be applied in full.
	ProcessError func(informer string, err *ProcessError)
	// Mutated: the mutation detector found a changed object.
	Mutated func(informer string, err *MutationError)
}

// HandlerInfo identifies a registration.
type HandlerInfo struct {
	Informer string // Config.Name
	Handler  string // HandlerOptions.Name, or the type of the handler
	ID       uint64 // unique in the informer, ascending in the order of registration
}
