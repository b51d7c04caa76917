package machine

import (
	"math"
	"time"

	"orrery/informer/reflector"
)

// never is the time of a timer that is not set.
const never = time.Duration(math.MaxInt64)

// state is everything that the machine remembers. It is a value that can be copied. Times are
// durations since the start of Run.
type state struct {
	// The position, and what else is shown as it is. The shell adds Name, StreamingList, NextAttempt and the store's errors.
	reflector.Snapshot

	// ownVersions: a whole state has shown that versions do not come from one counter, so they are not compared.
	ownVersions bool

	// The request under way. Set when it is made, read while it lasts.

	requestRV   string        // the version that was asked for
	requestedAt time.Duration // when (for a list: its first page)

	// A list. Invariant: page >= 1 exactly in PhaseListing.

	page      int    // the page that was asked for
	limit     int64  // the page size that was asked for; 0: no pages
	token     string // the continue token that was asked with; "" for page 1
	listRV    string // the version of page 1, which is that of the whole list
	whole     bool   // pages did not work out; this is the second attempt, without them
	pagedZero bool   // the server pages lists at "0" too: it has no watch cache, and pages are always worth asking for

	// A streaming list.

	refused   bool // the server does none: they are off for the rest of this Run
	broken    int  // streaming lists in a row that broke off
	streaming bool // in PhaseReplacing: the state comes from a stream that goes on

	// A watch.

	synthetic bool          // it began at no definite version: its first ADDED events are in no order
	openedAt  time.Duration // when its events began to count
	delivered int           // changes and bookmarks
	changes   int           // changes

	// Silence on a watch.

	keepalive        bool          // the connection is tested while nothing comes
	noKeepalive      bool          // the last connection had none: the next watch is asked for with a short limit
	heardAt          time.Duration // when something came last, or the watch was opened
	idleTimeout      time.Duration // longest silence of this watch; not positive: any
	answerWithin     time.Duration // while a watch is opened: how long that may take
	newsAt           time.Duration // when the server last showed that it has the position: it sent something, or was asked
	verifying        bool          // while a watch is opened: the server is asked first whether it has the position
	timerLate        bool          // the idle timer fired late, and what had come meanwhile is being read
	bookmarkAt       time.Duration // when the last bookmark of this watch came; never: none did
	bookmarkInterval time.Duration // longest time between two bookmarks of one watch; 0: not known

	// Failure.

	keepPosition  bool          // in PhaseBackingOff: a watch at lastRV comes next, not the whole state
	verifyNext    bool          // in PhaseBackingOff: the server did not answer; the next one may be another, and is asked for the position
	healthy       bool          // there was health since the last back-off: the next one begins at the beginning
	internalSince time.Duration // first internal error of the current series
	internalLast  time.Duration // last one; never if there was none

	// Timers: the time at which each rings, or never. Only those that mean something in the phase are set, see check.

	backOffAt  time.Duration
	idleAt     time.Duration
	deadlineAt time.Duration
	resyncAt   time.Duration
}

// newState is the state before Start.
func newState() state {
	return state{backOffAt: never, idleAt: never, deadlineAt: never, resyncAt: never, internalLast: never, bookmarkAt: never}
}

// startRV is the version that a list begins at (article: the list of list-watch; API documentation: resource
// versions). "0" at first: whatever the server has at hand, from its cache. Then the last one seen, so that time never
// runs backwards. "" once the server has refused that: a consistent read.
func (s *state) startRV() string {
	switch {
	case s.ResourceVersionRefused:
		return ""
	case s.ResourceVersion == "":
		return "0"
	default:
		return s.ResourceVersion
	}
}

// next returns the timer that rings first and the input that it stands for; never if none is set.
func (s *state) next() (at time.Duration, input Input) {
	at, input = s.resyncAt, InputResyncElapsed
	if s.idleAt < at {
		at, input = s.idleAt, InputIdleElapsed
	}
	if s.deadlineAt < at {
		at, input = s.deadlineAt, InputDeadlineElapsed
	}
	if s.backOffAt < at {
		at, input = s.backOffAt, InputBackOffElapsed
	}
	return at, input
}

// waits reports whether the phase has the other side to wait for, and so a limit to its silence.
func waits(p reflector.Phase) bool {
	return p == phaseOpeningStream || p == phaseStreaming || p == phaseOpeningWatch || p == phaseWatching
}

// clearTimers switches off what means nothing in the phase that was entered.
func (s *state) clearTimers() {
	if !waits(s.Phase) {
		s.idleAt = never
	}
	if s.Phase != phaseOpeningStream && s.Phase != phaseStreaming && s.Phase != phaseListing {
		s.deadlineAt = never
	}
	if s.Phase != phaseBackingOff {
		s.backOffAt, s.keepPosition, s.verifyNext = never, false, false
	}
	if s.Phase == phaseStopped {
		s.resyncAt = never
	}
	if s.Phase != phaseListing {
		s.page, s.limit, s.token, s.whole = 0, 0, "", false
	}
}

// rules are the part of the configuration that decides transitions.
type rules struct {
	name           string
	pageSize       int64
	listTimeout    time.Duration // of a list request; negative: never
	streaming      bool
	streamIdle     time.Duration // of a streaming list
	streamDeadline time.Duration // of a streaming list
	attempts       int           // of streaming lists
	idle           time.Duration // idle timeout of a watch with keepalive; negative: never
	silentIdle     time.Duration // of one without, and of the opening of a watch
	resync         time.Duration // 0: never
	internalBudget time.Duration
}

func rulesOf[T any](c reflector.Config[T]) *rules {
	r := &rules{
		name:           c.Name,
		pageSize:       c.PageSize,
		listTimeout:    c.ListTimeout,
		streaming:      !c.DisableWatchList && c.KeyFunc != nil,
		streamIdle:     c.InitialEventsTimeout,
		streamDeadline: c.InitialEventsDeadline,
		attempts:       c.StreamingListAttempts,
		idle:           c.IdleTimeout,
		silentIdle:     c.IdleTimeout,
		resync:         c.ResyncPeriod,
		internalBudget: c.MaxInternalErrorRetryDuration,
	}
	if c.IdleTimeout == 0 {
		r.idle, r.silentIdle = reflector.DefaultIdleTimeout, reflector.DefaultSilentIdleTimeout
	}
	if refuser, ok := c.ListerWatcher.(streamingListRefuser); ok && refuser.IsWatchListSemanticsUnSupported() {
		r.streaming = false
	}
	return r
}

// keepaliver is a watcher, or a ListerWatcher, that knows whether silence means that nothing happens.
type keepaliver interface {
	ProvesLife() bool
}

// streamingListRefuser is a ListerWatcher that knows that streaming lists do not work with it.
type streamingListRefuser interface {
	IsWatchListSemanticsUnSupported() bool
}
