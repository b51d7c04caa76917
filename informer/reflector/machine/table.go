package machine

import (
	"orrery/informer/reflector"
)

// table is the complete behaviour of a Reflector. To follow an incident, find the phase, then the
// input, then the first row whose condition holds. A comment says why a row stands before the
// others of its phase and input. TRANSITIONS.md is generated from the table.
var table = append([]transition{
	{phaseIdle, inputStart, streamingWanted, phaseOpeningStream, then(start, openStream)},
	{phaseIdle, inputStart, otherwise, phaseListing, then(start, list)},

	// The initial state as a stream (KEP-3157). If it fails repeatedly, a list follows.
	{phaseOpeningStream, inputOpened, always, phaseStreaming, readStream},
	// A refused position is refused again after a back-off; without it the same server can stream.
	{phaseOpeningStream, inputOpenFailed, canStartFresh, phaseOpeningStream, then(forgetPosition, openStream)},
	{phaseOpeningStream, inputOpenFailed, recoveryIs(retry), phaseBackingOff, failRound},
	{phaseOpeningStream, inputOpenFailed, otherwise, phaseListing, then(fallBack, list)},
	{phaseOpeningStream, inputIdleElapsed, always, phaseListing, then(fallBack, list)},
	{phaseOpeningStream, inputDeadlineElapsed, always, phaseListing, then(fallBack, list)},

	// The bound counts before the event is kept.
	{phaseStreaming, inputEvent, tooManyInitial, phaseListing, then(fallBackForGood, list)},
	{phaseStreaming, inputEvent, otherwise, phaseStreaming, collect},
	{phaseStreaming, inputBookmark, endsInitialEvents, phaseReplacing, replaceFromStream},
	{phaseStreaming, inputBookmark, otherwise, phaseStreaming, keepStreaming},
	{phaseStreaming, inputStreamEnded, attemptsLeft, phaseBackingOff, then(countBroken, failRound)},
	{phaseStreaming, inputStreamEnded, otherwise, phaseListing, then(fallBack, list)},
	// As above; only then is it a broken stream, of which there are few attempts.
	{phaseStreaming, inputStreamFailed, canStartFresh, phaseOpeningStream, then(forgetPosition, openStream)},
	{phaseStreaming, inputStreamFailed, both(recoveryIs(retry), attemptsLeft), phaseBackingOff,
		then(countBroken, failRound)},
	{phaseStreaming, inputStreamFailed, otherwise, phaseListing, then(fallBack, list)},
	// The process was suspended; events may wait to be read, so the server may understand streams.
	{phaseStreaming, inputIdleElapsed, timerLate, phaseListing, then(fallBack, list)},
	{phaseStreaming, inputIdleElapsed, otherwise, phaseListing, then(fallBackForGood, list)},
	{phaseStreaming, inputDeadlineElapsed, always, phaseListing, then(fallBackForGood, list)},

	// The initial state as a list, in pages.
	// A list without end is given up whatever its token says. A repeated token may be the fault of
	// the pages alone: once, everything is requested without them.
	{phaseListing, inputPageListed, listTooLong, phaseBackingOff, failRound},
	{phaseListing, inputPageListed, tokenRepeatedInPages, phaseListing, listWhole},
	{phaseListing, inputPageListed, tokenRepeated, phaseBackingOff, failRound},
	{phaseListing, inputPageListed, morePages, phaseListing, listNextPage},
	{phaseListing, inputPageListed, otherwise, phaseReplacing, replaceFromList},
	// The same cause without a token means the version that was requested.
	{phaseListing, inputListFailed, tokenExpired, phaseListing, listWhole},
	{phaseListing, inputListFailed, canStartFresh, phaseListing, then(forgetPosition, list)},
	{phaseListing, inputListFailed, otherwise, phaseBackingOff, failRound},
	{phaseListing, inputDeadlineElapsed, always, phaseBackingOff, failRound},

	{phaseReplacing, inputReplaced, fromStream, phaseWatching, followStream},
	{phaseReplacing, inputReplaced, otherwise, phaseOpeningWatch, then(replaced, openWatch)},
	{phaseReplacing, inputReplaceFailed, always, phaseBackingOff, failRound},

	// The changes after it.
	{phaseOpeningWatch, inputOpened, always, phaseWatching, readWatch},
	// An error that passes keeps the position. Of the others, only the list that verifies a
	// position shows that it must be forgotten: a watch may be refused from a version that can be
	// listed.
	{phaseOpeningWatch, inputOpenFailed, recoveryIs(retry), phaseBackingOff, pause},
	{phaseOpeningWatch, inputOpenFailed, notReached, phaseBackingOff, then(forgetPosition, failRound)},
	{phaseOpeningWatch, inputOpenFailed, positionGone, phaseBackingOff, then(noteGone, failRound)},
	{phaseOpeningWatch, inputOpenFailed, otherwise, phaseBackingOff, failRound},
	{phaseOpeningWatch, inputIdleElapsed, always, phaseBackingOff, then(noteIdle, pause)},
	{phaseOpeningWatch, inputThrottled, always, phaseOpeningWatch, allowForLimiter},
	{phaseOpeningWatch, inputResyncFailed, always, phaseBackingOff, failRound},

	{phaseWatching, inputEvent, always, phaseWatching, apply},
	{phaseWatching, inputBookmark, always, phaseWatching, mark},
	// A watch that ends at once is a failure: reopened, it would become a busy loop. Without a
	// version to go on from there is nothing to verify.
	{phaseWatching, inputStreamEnded, veryShort, phaseBackingOff, failRound},
	{phaseWatching, inputStreamEnded, veryShortAgain, phaseBackingOff, pause},
	{phaseWatching, inputStreamEnded, unresumable, phaseListing, then(endWatch, list)},
	{phaseWatching, inputStreamEnded, withoutNews, phaseOpeningWatch, then(endWatch, openWatchVerified)},
	{phaseWatching, inputStreamEnded, otherwise, phaseOpeningWatch, then(endWatch, openWatch)},
	// As for an end. Then errors that keep the position.
	{phaseWatching, inputStreamFailed, both(recoveryIs(resume), veryShort), phaseBackingOff, failRound},
	{phaseWatching, inputStreamFailed, both(recoveryIs(resume), veryShortAgain), phaseBackingOff, pause},
	{phaseWatching, inputStreamFailed, both(recoveryIs(resume), unresumable), phaseListing, then(endWatch, list)},
	{phaseWatching, inputStreamFailed, both(recoveryIs(resume), withoutNews), phaseOpeningWatch,
		then(endWatch, openWatchVerified)},
	{phaseWatching, inputStreamFailed, recoveryIs(resume), phaseOpeningWatch, then(endWatch, openWatch)},
	{phaseWatching, inputStreamFailed, recoveryIs(retry), phaseBackingOff, pause},
	{phaseWatching, inputStreamFailed, positionGone, phaseBackingOff, then(noteGone, failRound)},
	{phaseWatching, inputStreamFailed, otherwise, phaseBackingOff, failRound},
	// Without a version to go on from there is nothing to verify.
	{phaseWatching, inputIdleElapsed, unresumable, phaseListing, then(giveUpSilent, list)},
	{phaseWatching, inputIdleElapsed, otherwise, phaseOpeningWatch, then(giveUpSilent, openWatchVerified)},
	{phaseWatching, inputResyncFailed, always, phaseBackingOff, failRound},

	// Failure.
	{phaseBackingOff, inputDelayDrawn, always, phaseBackingOff, waitDelay},
	// From the most that is known to the least.
	{phaseBackingOff, inputBackOffElapsed, verifyNext, phaseOpeningWatch, openWatchVerified},
	{phaseBackingOff, inputBackOffElapsed, positionKept, phaseOpeningWatch, openWatch},
	{phaseBackingOff, inputBackOffElapsed, streamingWanted, phaseOpeningStream, openStream},
	{phaseBackingOff, inputBackOffElapsed, otherwise, phaseListing, list},
	{phaseBackingOff, inputResyncFailed, positionKept, phaseBackingOff, dropPosition},
}, everywhere()...)

// everywhere returns the rows of (nearly) all phases. PhaseReplacing has only the store's outcome
// as an input: Stop and the timers wait for it.
func everywhere() []transition {
	var rows []transition
	for phase := phaseIdle; phase < phaseStopped; phase++ {
		if phase == phaseReplacing {
			continue
		}
		rows = append(rows, transition{phase, inputStop, always, phaseStopped, stop})
		switch phase {
		case phaseIdle:
		case phaseOpeningWatch, phaseWatching: // which imply that the store has had a list
			rows = append(rows, transition{phase, inputResyncElapsed, always, phase, resync})
		default:
			rows = append(rows,
				transition{phase, inputResyncElapsed, hasSynced, phase, resync},
				transition{phase, inputResyncElapsed, otherwise, phase, skipResync})
		}
	}
	return rows
}

// The conditions, with their words in the diagram.
var (
	always    = condition{}
	otherwise = condition{text: "otherwise"}

	streamingWanted = condition{"streaming list wanted", func(r *rules, s *state, _ *input) bool {
		return r.streaming && !s.server.refused
	}}
	hasSynced    = condition{"synced", func(_ *rules, s *state, _ *input) bool { return s.Synced }}
	positionKept = condition{"position kept", func(_ *rules, s *state, _ *input) bool {
		return s.backingOff.keepPosition
	}}
	verifyNext = condition{"no answer, position kept", func(_ *rules, s *state, _ *input) bool {
		return s.backingOff.verifyNext
	}}
	fromStream = condition{"from a stream", func(_ *rules, s *state, _ *input) bool { return s.fetched.streamed }}

	unresumable = condition{"not resumable", func(_ *rules, s *state, _ *input) bool {
		return !s.resumable()
	}}

	// A server that has not reached the position opens one watch after the other, and sends nothing
	// on any. A long watch ends by its idle timeout; those with a short limit end before.
	withoutNews = condition{"short watches, nothing for minutes", func(r *rules, s *state, in *input) bool {
		return !s.stream.keepalive && r.silentIdle > 0 && in.now-s.server.newsAt >= longWithoutNews
	}}

	// canStartFresh does not hold twice in a row: if even a consistent read (at "") is refused, the
	// cause is elsewhere.
	canStartFresh = condition{"position refused", func(_ *rules, s *state, in *input) bool {
		return s.request.rv != "" && recoveryFor(s.Phase, in.cause) == startFresh
	}}

	// notReached holds if the list that verifies the position has refused it.
	notReached = condition{"verified, too large", func(_ *rules, s *state, in *input) bool {
		return s.watch.verifying && in.cause == reflector.CauseTooLarge
	}}
	positionGone = condition{"expired or too large", func(_ *rules, _ *state, in *input) bool {
		return in.cause == reflector.CauseExpired || in.cause == reflector.CauseTooLarge
	}}

	endsInitialEvents = condition{"initial events end", func(_ *rules, _ *state, in *input) bool {
		return in.initial && in.rv != ""
	}}
	attemptsLeft = condition{"attempts left", func(r *rules, s *state, _ *input) bool {
		return s.server.broken+1 < r.attempts
	}}

	listTooLong = condition{"too many items or pages", func(r *rules, s *state, in *input) bool {
		items := s.listing.items + in.items
		return items > r.maxItems || s.listing.page > items+reflector.EmptyPages
	}}
	timerLate = condition{"the timer was late", func(_ *rules, s *state, in *input) bool {
		return in.now-s.timers.idle >= lateTimer
	}}
	tooManyInitial = condition{"too many initial events", func(r *rules, s *state, _ *input) bool {
		return s.stream.changes >= r.maxItems
	}}
	tokenRepeated = condition{"token repeated", func(_ *rules, s *state, in *input) bool {
		return in.token != "" && in.token == s.listing.mark
	}}
	tokenRepeatedInPages = condition{"token repeated in pages", func(r *rules, s *state, in *input) bool {
		return !s.listing.whole && tokenRepeated.holds(r, s, in)
	}}
	morePages    = condition{"more pages", func(_ *rules, _ *state, in *input) bool { return in.token != "" }}
	tokenExpired = condition{"token expired", func(_ *rules, s *state, in *input) bool {
		return in.cause == reflector.CauseExpired && s.listing.token != "" && !s.listing.whole
	}}

	// A very short watch that delivered nothing is suspicious: the position may be at fault, so the
	// state is fetched again. A server may go on with very short watches that deliver something;
	// they must not be reopened in a busy loop.
	veryShort = condition{"very short, nothing came", func(_ *rules, s *state, in *input) bool {
		return in.now-s.stream.openedAt < reflector.VeryShortWatch && s.stream.delivered == 0
	}}
	veryShortAgain = condition{"very short, no progress or not the first", func(_ *rules, s *state, in *input) bool {
		return in.now-s.stream.openedAt < reflector.VeryShortWatch && (s.failure.brief || s.unmoved())
	}}
)

// recoveryIs holds if recoveryFor returns this recovery action.
func recoveryIs(wanted recovery) condition {
	return condition{wanted.String(), func(_ *rules, s *state, in *input) bool {
		return recoveryFor(s.Phase, in.cause) == wanted
	}}
}

// both holds if both conditions do.
func both(a, b condition) condition {
	return condition{a.text + ", " + b.text, func(r *rules, s *state, in *input) bool {
		return a.holds(r, s, in) && b.holds(r, s, in)
	}}
}
