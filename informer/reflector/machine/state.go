package machine

import (
	"cmp"
	"math"
	"time"

	"orrery/informer/reflector"
)

// never is the time of a timer that is not set.
const never = time.Duration(math.MaxInt64)

// state is the complete memory of the machine, a plain value. Times are durations since the start
// of Run. Data of a phase stands together and means nothing in the others.
type state struct {
	// The position and other published values. The shell adds Name, StreamingList, NextAttempt and
	// the store's errors.
	reflector.Snapshot
	undated bool // the list that led to the position had no definite version

	request    request    // while a list or a stream is being opened, and until the next one is
	listing    listing    // in PhaseListing; page >= 1 exactly there
	fetched    fetched    // from the first page or the last initial event to the end of PhaseReplacing
	stream     stream     // in PhaseStreaming and PhaseWatching
	watch      watch      // in PhaseOpeningWatch and PhaseWatching
	backingOff backingOff // in PhaseBackingOff
	server     server     // what Run has learned about the server
	failure    failure    // what decides between two ways to go on after an error
	timers     timers
}

// request is the outstanding request.
type request struct {
	rv string        // the requested version
	at time.Duration // when (for a list: its first page)
}

// listing is a list, page by page.
type listing struct {
	page  int    // the requested page
	limit int64  // the requested page size; 0: no pages
	token string // the continue token of the request; "" for page 1
	items int    // received in the pages before it
	mark  string // an earlier token; each power of two of pages has another one
	whole bool   // pages failed; this is the second attempt, without them
}

// fetched is the state that replaces the content of the store.
type fetched struct {
	rv       string // of the whole list: that of page 1, or of the bookmark that ends the initial events
	streamed bool   // it comes from a stream that continues as the watch
}

// stream is an open stream: a streaming list or a watch.
type stream struct {
	openedAt  time.Duration
	delivered int           // changes and bookmarks since openedAt
	changes   int           // of delivered, those that are no bookmarks
	keepalive bool          // the connection has a keepalive
	heardAt   time.Duration // when something last arrived, or the stream was opened
}

// watch is what only a watch has.
type watch struct {
	answerWithin time.Duration // while it is being opened: how long that may take
	verifying    bool          // while it is being opened: the position is verified first
	synthetic    bool          // it has no definite version, and has sent nothing but ADDED events, which are unordered
	idleTimeout  time.Duration // its longest silence; not positive: unlimited
}

// backingOff says what follows the delay.
type backingOff struct {
	keepPosition bool // a watch follows, not a list
	verifyNext   bool // another server may answer next, since the last did not: it verifies the position
}

// server is what Run has learned about the server.
type server struct {
	refused     bool          // it refuses streaming lists: they are off for the rest of this Run
	broken      int           // consecutive streaming lists that broke off
	pagedZero   bool          // it pages lists at "0" too: it has no watch cache, and pages are always useful
	noKeepalive bool          // the last connection had none: the next watch has a short limit
	newsAt      time.Duration // when it last showed that it has the position
}

// failure is what earlier errors and short watches mean for the next.
type failure struct {
	brief   bool // the last watch was very short
	healthy bool // there was a success since the last back-off: the next one restarts the delays
}

// timers say when each fires, or never. Only those of the phase are set: see clearTimers.
type timers struct{ backOff, idle, deadline, resync time.Duration }

// newState returns the state before Start.
func newState() state {
	return state{timers: timers{backOff: never, idle: never, deadline: never, resync: never}}
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
	if s.ResourceVersionRefused {
		return ""
	}
	return cmp.Or(s.ResourceVersion, "0")
}

// next returns the earliest timer and its input; never if none is set.
func (s *state) next() (at time.Duration, input inputKind) {
	at, input = s.timers.resync, inputResyncElapsed
	if s.timers.idle < at {
		at, input = s.timers.idle, inputIdleElapsed
	}
	if s.timers.deadline < at {
		at, input = s.timers.deadline, inputDeadlineElapsed
	}
	if s.timers.backOff < at {
		at, input = s.timers.backOff, inputBackOffElapsed
	}
	return at, input
}

// waits reports whether the phase waits for the server, which limits its silence.
func waits(p reflector.Phase) bool {
	return p == phaseOpeningStream || p == phaseStreaming || p == phaseOpeningWatch || p == phaseWatching
}

// clearTimers clears the timers and the data that do not belong to the new phase.
func (s *state) clearTimers() {
	if !waits(s.Phase) {
		s.timers.idle = never
	}
	if s.Phase != phaseOpeningStream && s.Phase != phaseStreaming && s.Phase != phaseListing {
		s.timers.deadline = never
	}
	if s.Phase != phaseBackingOff {
		s.timers.backOff, s.backingOff = never, backingOff{}
	}
	if s.Phase == phaseStopped {
		s.timers.resync = never
	}
	if s.Phase != phaseListing {
		s.listing = listing{}
	}
}

const (
	// initialEventsTimeout is the longest silence (no answer, then no ADDED event) during the initial
	// events of a streaming list, streamingListAttempts how many in a row may break off. After that
	// the state is listed instead.
	initialEventsTimeout  = 10 * time.Second
	streamingListAttempts = 3
)

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
}

func rulesOf[T any](c reflector.Config[T]) *rules {
	r := &rules{
		name:           c.Name,
		pageSize:       c.PageSize,
		maxItems:       c.MaxItems,
		listTimeout:    c.ListTimeout,
		streaming:      !c.DisableWatchList && c.KeyFunc != nil,
		streamIdle:     initialEventsTimeout,
		streamDeadline: c.InitialEventsDeadline,
		attempts:       streamingListAttempts,
		idle:           c.IdleTimeout,
		silentIdle:     c.IdleTimeout,
		resync:         c.ResyncPeriod,
	}
	if c.IdleTimeout == 0 {
		r.idle, r.silentIdle = 3*time.Minute, 45*time.Second
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
