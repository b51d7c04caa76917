package informer

import (
	"time"

	"orrery/deltafifo"
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
	// Queued is the number of keys that wait in the DeltaFIFO.
	Queued int
	// Undistributed is the number of events that are in the store and not yet with the listeners.
	Undistributed int
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
	Delivery  Delivery

	// Pending is the number of events that the handler has not dealt with: its lag. The event that it is working
	// on is counted, and so is what it has yet to be told from the store.
	Pending int
	// PeakPending is the greatest Pending there was.
	PeakPending int
	// Handled is the number of callbacks that have returned or panicked.
	Handled uint64
	// Merged is the number of events that were merged into others, see HandlerOptions.CompactAfter and Coalescing.
	Merged uint64
	// Blocked is for how long the informer has waited for the handler to make room, see Bounded. A wait that is going on
	// is not counted yet.
	Blocked time.Duration
	// Panics is the number of callbacks that panicked and were survived.
	Panics uint64

	// ResyncPeriod is the period that came of the one that was asked for; 0 is never.
	ResyncPeriod time.Duration
	// NextResync is when the handler is due; zero if never.
	NextResync time.Time
}

// Snapshot returns what the informer is doing. It may be called at any time, from any goroutine, hooks and
// callbacks included, and waits for nothing that takes long.
func (s *SharedIndexInformer[T]) Snapshot() Snapshot {
	s.mu.Lock()
	out := Snapshot{Name: s.config.Name, State: s.state}
	c := s.controller
	s.mu.Unlock()

	out.HasSynced = s.HasSynced()
	out.Objects = s.store.Len()
	out.ProcessErrors, out.LastProcessError = s.failures.summary()
	if c != nil {
		out.Queued = c.queue.Len()
		out.Reflector = c.reflector.Load().Snapshot()
	}
	s.processor.snapshot(&out)
	return out
}

// QueueSnapshot returns what waits in the DeltaFIFO, key by key; zero before Run. It takes longer than [SharedIndexInformer.Snapshot],
// see deltafifo.
func (s *SharedIndexInformer[T]) QueueSnapshot() deltafifo.Snapshot {
	s.mu.Lock()
	c := s.controller
	s.mu.Unlock()
	if c == nil {
		return deltafifo.Snapshot{}
	}
	return c.queue.Snapshot()
}

func (p *processor[T]) snapshot(out *Snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out.Undistributed = len(p.waiting)
	out.ResyncCheckPeriod = p.checkPeriod
	for _, l := range p.listeners {
		out.Handlers = append(out.Handlers, l.snapshotLocked())
	}
}

// snapshotLocked is called with the processor's mutex held.
func (l *listener[T]) snapshotLocked() HandlerSnapshot {
	s := HandlerSnapshot{
		HandlerInfo:  l.registration.info,
		HasSynced:    l.registration.HasSynced(),
		Delivery:     l.delivery,
		Pending:      l.pending(),
		PeakPending:  int(l.peak.Load()),
		Handled:      l.handled.Load(),
		Merged:       l.merged.Load(),
		Blocked:      time.Duration(l.waited.Load()),
		Panics:       l.panics.Load(),
		ResyncPeriod: l.resync.period,
	}
	if s.ResyncPeriod > 0 {
		s.NextResync = l.resync.next
	}
	return s
}
