package informer

import (
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer/reflector"
	"orrery/internal/hooks"
)

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
	// HandlerPanicked: a callback panicked. Called before the process ends or continues.
	HandlerPanicked func(h HandlerInfo, kind EventKind, key string, value any)

	// Applied: a delta was applied to the store; the event is distributed next. The queue's process
	// function calls it with a lock of the informer held, and the textbook queue holds its own. So
	// the hook must call neither the informer nor, with that queue, Snapshot.
	Applied func(AppliedInfo)
	// Distributed: an event was distributed to this many listeners. The queue's process function
	// calls it. The textbook queue holds its lock meanwhile, so with that queue the hook must not
	// call Snapshot.
	Distributed func(e EventInfo, listeners int)
	// HandlerQueued: events were queued for a handler, or merged with waiting ones. It is called
	// before the handler can be called with them, with a lock of the processor held, and must not
	// call the informer.
	HandlerQueued func(h HandlerInfo, q QueuedInfo)
	// HandlerCalled: a callback begins.
	HandlerCalled func(h HandlerInfo, e EventInfo)
	// Handled: a callback returned after took.
	Handled func(h HandlerInfo, e EventInfo, took time.Duration)

	// ResyncDue: this many handlers are due for a resync, which starts now. The reflector waits.
	ResyncDue func(informer string, handlers int)
	// ProcessError: an event could not be applied in full.
	ProcessError func(informer string, err *ProcessError)
	// Mutated: the mutation detector found a changed object.
	Mutated func(informer string, err *MutationError)
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil; the result is nil if all are, and the argument itself if only one is not.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Join(traces...)
}

// HandlerInfo identifies a registration.
type HandlerInfo struct {
	Informer string // Config.Name
	Handler  string // HandlerOptions.Name, or the type of the handler
	ID       uint64 // unique in the informer, ascending in the order of registration
}

// EventInfo identifies an event on its way to the handlers.
type EventInfo struct {
	Number uint64 // AppliedInfo.Number; 0 for the initial content of a handler
	Kind   EventKind
	Key    string
}

// AppliedInfo describes a delta that was applied to the store.
type AppliedInfo struct {
	EventInfo       // Number counts the deltas of the informer from 1; Kind is 0 if nothing has changed
	Type            deltafifo.DeltaType
	Tombstone       bool   // a deletion whose final state is unknown
	ResourceVersion string // of the delta's object
	Sync            bool   // an update without a change, which only handlers get whose resync is due
}

// QueuedInfo describes a change of the events that wait for a handler.
type QueuedInfo struct {
	Number  uint64 // of the last one; 0 if only events were merged
	Count   int    // how many were added
	Merged  int    // how many were merged into others
	Pending int    // how many wait now, with the running one
}

// Snapshot is the state of an informer at one moment, as plain data. Its parts are read one after
// the other, so while events flow they may differ slightly.
type Snapshot struct {
	Name      string
	State     State
	HasSynced bool

	Objects int // in the store
	Queued  int // keys in the queue

	ProcessErrors    uint64 // events that could not be applied in full
	LastProcessError *ProcessError

	Reflector reflector.Snapshot // zero before Run
	Handlers  []HandlerSnapshot  // in the order of registration
}

// HandlerSnapshot is one handler.
type HandlerSnapshot struct {
	HandlerInfo
	HasSynced bool

	Pending     int    // the lag: unprocessed events, with the present one and those of the initial content
	PeakPending int    // the maximum of Pending
	Handled     uint64 // callbacks that have returned or panicked
	Merged      uint64 // events that were merged into others, see HandlerOptions
	Panics      uint64 // recovered panics of callbacks
}

// Snapshot returns the state of the informer. It may be called at any time from any goroutine,
// including hooks and callbacks, and does not block for long. With the textbook queue it waits
// while an event is applied, and [Trace].Distributed must not call it.
func (s *SharedIndexInformer[T]) Snapshot() Snapshot {
	s.mu.Lock()
	out := Snapshot{Name: s.config.Name, State: s.state}
	c := s.controller
	s.mu.Unlock()

	out.HasSynced = s.HasSynced()
	out.Objects = s.indexer.Len()
	out.ProcessErrors, out.LastProcessError = s.failures.summary()
	if c != nil {
		out.Queued = c.queue.Len()
		out.Reflector = c.reflector.Snapshot()
	}
	s.handlers.mu.Lock()
	defer s.handlers.mu.Unlock()
	for _, h := range s.handlers.list {
		out.Handlers = append(out.Handlers, h.snapshot())
	}
	return out
}

// QueueSnapshot returns the content of the queue by key; zero before Run. It takes longer than
// [SharedIndexInformer.Snapshot], see deltafifo.
func (s *SharedIndexInformer[T]) QueueSnapshot() deltafifo.Snapshot {
	if c := s.runningController(); c != nil {
		return c.queue.Snapshot()
	}
	return deltafifo.Snapshot{}
}

// StoreSnapshot returns the content of the store and its indexes.
func (s *SharedIndexInformer[T]) StoreSnapshot() indexer.Snapshot { return s.indexer.Snapshot() }

func (h *RegisteredHandler[T]) snapshot() HandlerSnapshot {
	return HandlerSnapshot{
		HandlerInfo: h.registration.info,
		HasSynced:   h.registration.HasSynced(),
		Pending:     h.pending(),
		PeakPending: int(h.peak.Load()),
		Handled:     h.handled.Load(),
		Merged:      h.merged.Load(),
		Panics:      h.panics.Load(),
	}
}
