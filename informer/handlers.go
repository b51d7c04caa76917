package informer

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// HandlerOptions are the options of one handler. [SharedIndexInformer.AddEventHandler] uses the
// zero value.
type HandlerOptions struct {
	Name string // in traces and snapshots; default the type of the handler
	// ResyncPeriod is how often the handler gets an OnUpdate without a change for every object.
	// Zero means the informer's period, a negative value means never; a period below one second is
	// raised to one second. Before Run, a shorter period lowers the shared check period; afterwards
	// it is raised to that. An informer whose own period is zero never resyncs.
	ResyncPeriod time.Duration
	// Coalescing keeps at most one waiting event per object: further changes merge into it. So the
	// memory for a stuck handler is bounded by the number of objects. It receives the deletion of
	// every object that it knows. The textbook processor ignores Coalescing.
	Coalescing bool
}

// registry has the handlers of an informer and the resync check period.
type registry[T any] struct {
	mu      sync.Mutex // guards the fields below
	list    []*RegisteredHandler[T]
	lastID  uint64
	started bool // the check period is fixed
	closed  bool // no handler can be added
	// checkPeriod is how often the reflector checks whether a resync is due; 0 means never.
	checkPeriod time.Duration
}

// current returns the handlers that have not been removed, in the order of registration.
func (r *registry[T]) current() []*RegisteredHandler[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// add registers a handler. It returns false if the informer has stopped.
func (r *registry[T]) add(h *RegisteredHandler[T]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.lastID++
	h.registration.info.ID = r.lastID
	r.scheduleLocked(h)
	r.list = append(r.list, h)
	return true
}

// scheduleLocked sets when h is due. Before the start, a shorter period shortens the check period.
func (r *registry[T]) scheduleLocked(h *RegisteredHandler[T]) {
	if wish := h.options.ResyncPeriod; wish > 0 {
		h.resync.requested = max(wish, minimumResyncPeriod)
	}
	if wish := h.resync.requested; wish > 0 && wish < r.checkPeriod && !r.started {
		r.checkPeriod = wish
		for _, other := range r.list {
			other.resync.adapt(wish, time.Now())
		}
	}
	h.resync.adapt(r.checkPeriod, time.Now())
}

// remove takes a handler off the list and marks it stopped, so that what waits for it is dropped.
// It returns nil if the handler was already removed or the informer has stopped.
func (r *registry[T]) remove(registration *Registration) *RegisteredHandler[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.list, func(h *RegisteredHandler[T]) bool { return h.registration == registration })
	if i < 0 {
		return nil
	}
	h := r.list[i]
	r.list = slices.Delete(r.list, i, i+1)
	h.stopped.Store(true)
	return h
}

// start fixes the check period and returns it.
func (r *registry[T]) start() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = true
	return r.checkPeriod
}

// close stops all handlers. None can be added afterwards.
func (r *registry[T]) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, h := range r.list {
		h.stopped.Store(true)
	}
	r.list = nil
}

// AddEventHandler registers a handler with the resync period of the informer.
//
// A handler may be added at any time. After Run has begun, it first receives the content of the
// store, as OnAdd with isInInitialList true, and then every later change: nothing is missed and
// nothing is duplicated. After the informer has stopped it returns [ErrStopped].
func (s *SharedIndexInformer[T]) AddEventHandler(h ResourceEventHandler[T]) (*Registration, error) {
	return s.AddEventHandlerWithOptions(h, HandlerOptions{})
}

// AddEventHandlerWithOptions is AddEventHandler with options.
func (s *SharedIndexInformer[T]) AddEventHandlerWithOptions(h ResourceEventHandler[T],
	opts HandlerOptions) (*Registration, error) {
	if h == nil {
		return nil, ErrNoHandler
	}
	if opts.ResyncPeriod == 0 {
		opts.ResyncPeriod = s.config.ResyncPeriod
	}
	if opts.Name == "" {
		opts.Name = fmt.Sprintf("%T", h)
	}
	if wrap := s.config.WrapHandler; wrap != nil {
		h = wrap(opts.Name, h)
	}
	registration := newRegistration(HandlerInfo{Informer: s.config.Name, Handler: opts.Name}, s)
	initial, ok := s.join(newRegisteredHandler(h, opts, registration, s.config.Trace))
	if !ok {
		return nil, ErrStopped
	}
	if t := s.config.Trace; t.HandlerAdded != nil {
		t.HandlerAdded(registration.info, initial)
	}
	return registration, nil
}

// join adds a handler to the processor with the content of the store, and returns the number of its
// objects.
func (s *SharedIndexInformer[T]) join(h *RegisteredHandler[T]) (initial int, ok bool) {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	if !s.handlers.add(h) {
		return 0, false
	}
	content := s.contentLocked()
	initial = len(content)
	h.added.Store(uint64(initial))
	h.peak.Store(int64(initial))
	if s.HasSynced() {
		content = append(content, Notification[T]{Kind: EventSynced})
	}
	s.processor.AddListener(h, content)
	return initial, true
}

// contentLocked returns the content of the store as additions. It must be called with blockDeltas
// held.
func (s *SharedIndexInformer[T]) contentLocked() []Notification[T] {
	keys := s.indexer.ListKeys()
	content := make([]Notification[T], 0, len(keys)+1)
	for _, key := range keys {
		if obj, exists := s.indexer.GetByKey(key); exists {
			content = append(content, Notification[T]{Kind: EventAdd, Initial: true, Key: key, New: obj})
		}
	}
	return content
}

// RemoveEventHandler removes a handler without waiting: a running callback continues, no other
// begins. Events that wait for the handler are dropped. [Registration.Ended] tells when the last
// callback has returned; a callback of the handler itself must not wait for it.
//
// A second removal does nothing. A registration of another informer gives [ErrForeignRegistration].
func (s *SharedIndexInformer[T]) RemoveEventHandler(r *Registration) error {
	if r == nil || r.owner != any(s) {
		return ErrForeignRegistration
	}
	h := s.handlers.remove(r)
	if h == nil {
		return nil
	}
	if s.config.Trace.HandlerRemoved != nil {
		s.config.Trace.HandlerRemoved(r.info)
	}
	s.processor.RemoveListener(h)
	return nil
}

// Registration represents a handler that was added to an informer. It serves to wait for the
// handler and to remove it. It is safe for concurrent use.
type Registration struct {
	info  HandlerInfo
	owner any // the informer, for comparison only

	synced chan struct{} // closed when the initial list has been handled
	ended  chan struct{} // closed when the last callback has returned
}

func newRegistration(info HandlerInfo, owner any) *Registration {
	return &Registration{info: info, owner: owner, synced: make(chan struct{}), ended: make(chan struct{})}
}

// Info identifies the handler.
func (r *Registration) Info() HandlerInfo { return r.info }

// HasSynced reports whether the handler has processed the initial state: the informer's first list,
// or the content of the store when the handler was added. A recovered panic counts as processed.
//
// The informer's HasSynced is about the store only.
func (r *Registration) HasSynced() bool { return isClosed(r.synced) }

// Synced returns a channel that is closed when [Registration.HasSynced] becomes true. It stays open
// if the handler is removed or the informer stops before.
func (r *Registration) Synced() <-chan struct{} { return r.synced }

// Ended returns a channel that is closed when no callback of the handler is running or will begin:
// it was removed, or the informer stopped.
func (r *Registration) Ended() <-chan struct{} { return r.ended }

// resyncSchedule says when a handler is due for a resync.
//
// The reflector checks every check period, which is the shortest period requested before the
// informer started. So a handler's own period is rounded up to the next check. Two checks are
// seldom exactly a check period apart: one that comes up to a tenth of it early counts.
type resyncSchedule struct {
	requested time.Duration // immutable; 0 is never

	mu      sync.Mutex // guards the fields below
	period  time.Duration
	missing time.Duration // by how much a check may come too early
	next    time.Time
}

// due reports whether a resync is due, and if so schedules the next one.
func (s *resyncSchedule) due(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period == 0 || now.Add(s.missing).Before(s.next) {
		return false
	}
	s.next = now.Add(s.period)
	return true
}

// adapt adjusts the schedule to a check period and restarts it. A check period of 0 means never.
func (s *resyncSchedule) adapt(check time.Duration, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period = 0; s.requested > 0 && check > 0 {
		s.period = max(s.requested, check)
	}
	s.missing = check / 10
	s.next = now.Add(s.period)
}
