package informer

import (
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer/reflector"
)

// Snapshot is what an informer was doing at one moment, as plain data. Its parts are read one after the other, so
// while events flow they may differ by a few.
type Snapshot struct {
	Name      string
	State     State
	HasSynced bool

	// Objects is the number of objects in the store.
	Objects int
	// Queued is the number of keys that wait in the queue.
	Queued int
	// ResyncCheckPeriod is how often the informer looks whether a handler is due for a resync; 0 is never.
	ResyncCheckPeriod time.Duration

	// ProcessErrors is the number of events that could not be applied in full, LastProcessError the last of them.
	ProcessErrors    uint64
	LastProcessError *ProcessError

	// Reflector is that of the reflector; zero before Run.
	Reflector reflector.Snapshot
	// Handlers, in the order of registration. Those that were removed are not among them.
	Handlers []HandlerSnapshot
}

// HandlerSnapshot is one handler.
type HandlerSnapshot struct {
	HandlerInfo
	HasSynced bool

	// Pending is the number of events that the handler has not dealt with: its lag. The event that it is working
	// on is counted, and so is what it has yet to be told from the store.
	Pending int
	// PeakPending is the greatest Pending there was.
	PeakPending int
	// Handled is the number of callbacks that have returned or panicked.
	Handled uint64
	// Merged is the number of events that were merged into others, see HandlerOptions.
	Merged uint64
	// Panics is the number of callbacks that panicked and were survived.
	Panics uint64

	// ResyncPeriod is the period that came of the one that was asked for; 0 is never.
	ResyncPeriod time.Duration
	// NextResync is when the handler is due; zero if never.
	NextResync time.Time
}

// Snapshot returns what the informer is doing. It may be called at any time, from any goroutine, hooks and
// callbacks included, and waits for nothing that takes long. With the textbook queue it waits while an event is applied,
// and [Trace].Distributed must not call it.
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

// QueueSnapshot returns what waits in the queue, key by key; zero before Run, or if the queue does not say. It takes
// longer than [SharedIndexInformer.Snapshot], see deltafifo.
func (s *SharedIndexInformer[T]) QueueSnapshot() (snapshot deltafifo.Snapshot) {
	if c := s.runningController(); c != nil {
		snapshot, _ = snapshotOf[deltafifo.Snapshot](c.queue)
	}
	return snapshot
}

// StoreSnapshot returns the state of the store and its indexes; zero if the store does not say.
func (s *SharedIndexInformer[T]) StoreSnapshot() indexer.Snapshot {
	snapshot, _ := snapshotOf[indexer.Snapshot](s.indexer)
	return snapshot
}

// snapshotOf asks a gear for its snapshot, which not every form has.
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
