package informer

import (
	"time"

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

	// Objects is the number of objects in the store.
	Objects int
	// Queued is the number of keys in the queue.
	Queued int
	// ResyncCheckPeriod is how often the informer checks whether a handler is due for a resync; 0
	// means never.
	ResyncCheckPeriod time.Duration

	// ProcessErrors counts the events that could not be applied in full; LastProcessError is the
	// last error.
	ProcessErrors    uint64
	LastProcessError *ProcessError

	// Reflector is the reflector's snapshot; zero before Run.
	Reflector reflector.Snapshot
	// Handlers are the registered handlers in the order of registration.
	Handlers []HandlerSnapshot
}

// HandlerSnapshot is one handler.
type HandlerSnapshot struct {
	HandlerInfo
	HasSynced bool

	// Pending is the handler's lag: the number of unprocessed events, including the present one and
	// those of the initial content.
	Pending int
	// PeakPending is the maximum of Pending.
	PeakPending int
	// Handled is the number of callbacks that have returned or panicked.
	Handled uint64
	// Merged is the number of events that were merged into others, see HandlerOptions.
	Merged uint64
	// Panics counts the recovered panics of callbacks.
	Panics uint64

	// ResyncPeriod is the effective resync period; 0 means never.
	ResyncPeriod time.Duration
	// NextResync is when the next resync is due; zero if never.
	NextResync time.Time
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
		if queue, ok := c.queue.(interface{ Len() int }); ok {
			out.Queued = queue.Len()
		}
		out.Reflector, _ = snapshotOf[reflector.Snapshot](*c.reflector.Load())
	}
	s.handlers.mu.Lock()
	defer s.handlers.mu.Unlock()
	out.ResyncCheckPeriod = s.handlers.checkPeriod
	for _, h := range s.handlers.list {
		out.Handlers = append(out.Handlers, h.snapshot())
	}
	return out
}

// QueueSnapshot returns the content of the queue by key; zero before Run, or if the queue has no
// snapshots. It takes longer than [SharedIndexInformer.Snapshot], see deltafifo.
func (s *SharedIndexInformer[T]) QueueSnapshot() (snapshot deltafifo.Snapshot) {
	if c := s.runningController(); c != nil {
		snapshot, _ = snapshotOf[deltafifo.Snapshot](c.queue)
	}
	return snapshot
}

// StoreSnapshot returns the content of the store and its indexes; zero if the store has no
// snapshots.
func (s *SharedIndexInformer[T]) StoreSnapshot() indexer.Snapshot {
	snapshot, _ := snapshotOf[indexer.Snapshot](s.indexer)
	return snapshot
}

// snapshotOf returns the snapshot of a gear, if its form has one.
func snapshotOf[S any](gear any) (snapshot S, ok bool) {
	if teller, ok := gear.(interface{ Snapshot() S }); ok {
		return teller.Snapshot(), true
	}
	return snapshot, false
}

func (h *RegisteredHandler[T]) snapshot() HandlerSnapshot {
	s := HandlerSnapshot{
		HandlerInfo: h.registration.info,
		HasSynced:   h.registration.HasSynced(),
		Pending:     h.pending(),
		PeakPending: int(h.peak.Load()),
		Handled:     h.handled.Load(),
		Merged:      h.merged.Load(),
		Panics:      h.panics.Load(),
	}
	s.ResyncPeriod, s.NextResync = h.resync.plan()
	return s
}
