package machine

import (
	"math"
	"time"

	"orrery/informer/reflector"
)

// never is the time of a timer that is not set.
const never = time.Duration(math.MaxInt64)

// state is the complete memory of the machine, a plain value. Times are durations since the start
// of Run.
type state struct {
	// The position and other published values. The shell adds Name, StreamingList, NextAttempt and
	// the store's errors.
	reflector.Snapshot

	// The outstanding request.

	requestRV   string        // the requested version
	requestedAt time.Duration // when (for a list: its first page)

	// A list. Invariant: page >= 1 exactly in PhaseListing.

	page      int    // the requested page
	limit     int64  // the requested page size; 0: no pages
	token     string // the continue token of the request; "" for page 1
	items     int    // received in the pages before it
	mark      string // an earlier token; each power of two of pages has another one
	listRV    string // the version of page 1, which counts for the whole list
	whole     bool   // pages failed; this is the second attempt, without them
	pagedZero bool   // the server pages lists at "0" too: it has no watch cache, and pages are always useful

	// A streaming list.

	refused   bool // the server refuses them: they are off for the rest of this Run
	broken    int  // consecutive streaming lists that broke off
	streaming bool // in PhaseReplacing: the state comes from a stream that continues

	// A watch.

	brief     bool          // the last one was very short
	undated   bool          // the list before it had no definite version
	synthetic bool          // nor has it, and it has sent nothing but ADDED events, which are unordered
	openedAt  time.Duration // when it was opened
	delivered int           // changes and bookmarks since openedAt
	changes   int           // of delivered, those that are no bookmarks

	// Silence on a watch.

	keepalive        bool          // the connection has a keepalive
	noKeepalive      bool          // the last connection had none: the next watch has a short limit
	heardAt          time.Duration // when something last arrived, or the watch was opened
	idleTimeout      time.Duration // longest silence of this watch; not positive: unlimited
	answerWithin     time.Duration // while a watch is being opened: how long that may take
	newsAt           time.Duration // when the server last showed that it has the position
	verifying        bool          // while a watch is being opened: the position is verified first
	timerLate        bool          // the idle timer fired late, and buffered events are being read
	bookmarkAt       time.Duration // time of the last bookmark of this watch; never if none
	bookmarkInterval time.Duration // longest interval between bookmarks of one watch; 0: unknown

	// Failure.

	keepPosition  bool          // in PhaseBackingOff: a watch follows, not a list
	verifyNext    bool          // in PhaseBackingOff: the server did not answer; another one may answer next, so verify the position
	healthy       bool          // there was a success since the last back-off: the next one restarts the delays
	internalSince time.Duration // first internal error of the current series
	internalLast  time.Duration // last one, or never

	// Timers: when each fires, or never. Only those of the phase are set, see check.

	backOffAt  time.Duration
	idleAt     time.Duration
	deadlineAt time.Duration
	resyncAt   time.Duration
}

// newState returns the state before Start.
func newState() state {
	return state{backOffAt: never, idleAt: never, deadlineAt: never, resyncAt: never, internalLast: never, bookmarkAt: never}
}

// definite reports whether the position says what the store has. A watch from "" or "0" begins with
// all objects.
func (s *state) definite() bool { return definite(s.ResourceVersion) }

func definite(resourceVersion string) bool { return resourceVersion != "" && resourceVersion != "0" }

// resumable reports whether the next watch can continue at the position. It cannot after a list
// without a definite version: no event says what was deleted before the watch opened. Another list
// must follow, even if the position is definite by now.
func (s *state) resumable() bool { return s.definite() && !s.undated }

// startRV returns the version to list at (article: the list of list-watch; API documentation:
// resource versions). "0" at first: any version in the server's cache. Then the last one seen, so
// that time never runs backwards. "" once the server has refused that: a consistent read.
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

// next returns the earliest timer and its input; never if none is set.
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

// waits reports whether the phase waits for the server, which limits its silence.
func waits(p reflector.Phase) bool {
	return p == phaseOpeningStream || p == phaseStreaming || p == phaseOpeningWatch || p == phaseWatching
}

// clearTimers clears the timers that do not belong to the new phase.
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
		s.page, s.limit, s.token, s.items, s.mark, s.whole = 0, 0, "", 0, "", false
	}
}

// rules are the configuration of the machine.
type rules struct {
	name           string
	pageSize       int64
	maxItems       int
	listTimeout    time.Duration // of a list request; negative: never
	streaming      bool
	streamIdle     time.Duration // of a streaming list
	streamDeadline time.Duration // of a streaming list
	attempts       int           // at streaming lists
	idle           time.Duration // idle timeout of a watch with keepalive; negative: never
	silentIdle     time.Duration // of one without, and for opening a watch
	resync         time.Duration // 0: never
	internalBudget time.Duration
}

func rulesOf[T any](c reflector.Config[T]) *rules {
	r := &rules{
		name:           c.Name,
		pageSize:       c.PageSize,
		maxItems:       c.MaxItems,
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

// keepaliver is a watcher, or a ListerWatcher, that knows whether its connection has a keepalive.
type keepaliver interface{ HasKeepalive() bool }

// streamingListRefuser is a ListerWatcher that knows that it does not support streaming lists.
type streamingListRefuser interface{ IsWatchListSemanticsUnSupported() bool }
