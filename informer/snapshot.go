package informer

import (
	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer/reflector"
)

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
