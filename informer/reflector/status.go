package reflector

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"orrery/restclient/api"
)

// status is the bookkeeping of the textbook form: its [Snapshot], which contains the position.
type status struct {
	trace *Trace

	mu       sync.Mutex // never held while a hook is called
	snapshot Snapshot
	undated  bool // the last list had no definite version
	initial  bool // the watch began at no definite version, and has sent nothing but ADDED events
}

// definite reports whether a version says what a store has. A watch from "" or "0" begins with all
// objects, as ADDED events in any order.
func definite(resourceVersion string) bool { return resourceVersion != "" && resourceVersion != "0" }

func newStatus[T any](c Config[T]) *status {
	return &status{trace: c.Trace, snapshot: Snapshot{Name: c.Name}}
}

// Snapshot returns what the Reflector is doing. It may be called at any time from any goroutine.
func (s *status) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot
}

// LastSyncResourceVersion returns the resource version that the store has reached by the last list,
// event or bookmark. It is "" before the first list, and if the server has no versions.
func (s *status) LastSyncResourceVersion() string { return s.Snapshot().ResourceVersion }

// relistResourceVersion returns the version to list at: "0" (any version) at first; then the last
// one seen, so that the store does not go back in time; "" (a consistent read) if the server cannot
// serve that version.
func (s *status) relistResourceVersion() string {
	now := s.Snapshot()
	if now.ResourceVersionRefused {
		return ""
	}
	return cmp.Or(now.ResourceVersion, "0")
}

func (s *status) change(do func(*Snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&s.snapshot)
}

// enter records a phase and why it was entered.
func (s *status) enter(phase Phase, on string) {
	before := s.Snapshot().Phase
	s.change(func(now *Snapshot) {
		now.Phase, now.NextAttempt = phase, time.Time{}
		switch phase {
		case PhaseOpeningWatch:
			now.Watches++
			s.initial = !definite(now.ResourceVersion)
		case PhaseListing:
			now.Rounds++
		}
	})
	if before != phase {
		s.trace.StateChanged(before, phase, on)
	}
}

func (s *status) enterBackOff(delay time.Duration, err error) {
	s.enter(PhaseBackingOff, "Failed")
	s.change(func(s *Snapshot) {
		s.Failures++
		s.LastError, s.NextAttempt = err, time.Now().Add(delay)
	})
	s.trace.BackOff(delay, err)
}

func (s *status) setHealthy() { s.change(func(s *Snapshot) { s.Failures = 0 }) }

// setSynced records that the store has the state at rv.
func (s *status) setSynced(rv string) {
	s.change(func(now *Snapshot) {
		now.ResourceVersion, now.ResourceVersionRefused, now.Synced = rv, false, true
		s.undated = !definite(rv)
	})
}

// resumable reports whether the next watch can continue at the position. It cannot after a list
// without a definite version: no event says what was deleted before the watch opened.
func (s *status) resumable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.undated && definite(s.snapshot.ResourceVersion)
}

// setUnavailable records that the server has refused a list at rv, which must not be requested
// again.
func (s *status) setUnavailable(rv string, err error) {
	s.change(func(s *Snapshot) { s.ResourceVersionRefused = true })
	s.trace.Expired(rv, err)
}

// received counts an event of a watch.
func received[T any](s *status, e api.WatchEvent[T]) {
	if e.Type != api.WatchAdded {
		s.change(func(*Snapshot) { s.initial = false })
	}
	if e.Type == api.WatchBookmark {
		s.change(func(s *Snapshot) { s.Bookmarks++ })
		s.trace.Bookmark(e.ResourceVersion, e.InitialEventsEnd)
		return
	}
	s.change(func(s *Snapshot) { s.Events++ })
	if s.trace.Event != nil {
		s.trace.Event(EventInfoOf(e))
	}
}

// setPosition moves the position to rv, unless that is "", or the version of an initial event.
func (s *status) setPosition(rv string) {
	s.change(func(now *Snapshot) {
		if rv != "" && !s.initial {
			now.ResourceVersion = rv
		}
	})
}

// recordStoreError counts and traces err and returns it as a *StoreError, or nil if err is nil.
// After ctx has ended it records nothing: a program that stops a Reflector closes the store as
// well.
func (s *status) recordStoreError(ctx context.Context, op StoreOp, rv string, err error) error {
	if err == nil {
		return nil
	}
	failure := &StoreError{Name: s.Snapshot().Name, Op: op, ResourceVersion: rv, Err: err}
	if ctx.Err() == nil {
		s.change(func(s *Snapshot) { s.StoreErrors, s.LastStoreError = s.StoreErrors+1, failure })
		s.trace.StoreFailed(failure)
	}
	return failure
}

func isStoreError(err error) bool {
	_, is := errors.AsType[*StoreError](err)
	return is
}

// isResourceVersionUnavailable reports whether the server cannot serve the requested version:
// expired (410 Gone) or too large.
func isResourceVersionUnavailable(err error) bool {
	cause := CauseOf(err)
	return cause == CauseExpired || cause == CauseTooLarge
}

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
	PhaseStopped                    // Run has ended, or panicked; another phase follows if it is called again
	phaseCount
)

var phaseNames = [phaseCount]string{
	"Idle", "OpeningStream", "Streaming", "Listing", "Replacing", "OpeningWatch", "Watching", "BackingOff", "Stopped"}

func (p Phase) String() string { return phaseNames[p] }
