package machine

import "orrery/informer/reflector"

// table is the complete behaviour of a Reflector. To follow an incident, find the phase, then the
// input, then the first row whose condition holds. TRANSITIONS.md is generated from it.
var table = append([]transition{
	{phaseIdle, InputStart, streamingWanted, phaseOpeningStream, then(start, openStream)},
	{phaseIdle, InputStart, otherwise, phaseListing, then(start, list)},

	// The initial state as a stream (KEP-3157). If it fails repeatedly, a list follows.
	{phaseOpeningStream, InputOpened, always, phaseStreaming, readStream},
	{phaseOpeningStream, InputOpenFailed, canStartFresh, phaseOpeningStream, then(forgetPosition, openStream)},
	{phaseOpeningStream, InputOpenFailed, recoveryIs(Retry), phaseBackingOff, failRound},
	{phaseOpeningStream, InputOpenFailed, otherwise, phaseListing, then(fallBack, list)},
	{phaseOpeningStream, InputIdleElapsed, timerLate, phaseOpeningStream, readFirst},
	{phaseOpeningStream, InputIdleElapsed, otherwise, phaseListing, then(fallBack, list)},
	{phaseOpeningStream, InputDeadlineElapsed, always, phaseListing, then(fallBack, list)},

	{phaseStreaming, InputEvent, tooManyInitial, phaseListing, then(fallBackForGood, list)},
	{phaseStreaming, InputEvent, otherwise, phaseStreaming, collect},
	{phaseStreaming, InputBookmark, endsInitialEvents, phaseReplacing, replaceFromStream},
	{phaseStreaming, InputBookmark, otherwise, phaseStreaming, keepStreaming},
	{phaseStreaming, InputStreamEnded, attemptsLeft, phaseBackingOff, then(countBroken, failRound)},
	{phaseStreaming, InputStreamEnded, otherwise, phaseListing, then(fallBack, list)},
	{phaseStreaming, InputStreamFailed, canStartFresh, phaseOpeningStream, then(forgetPosition, openStream)},
	{phaseStreaming, InputStreamFailed, both(recoveryIs(Retry), attemptsLeft), phaseBackingOff, then(countBroken, failRound)},
	{phaseStreaming, InputStreamFailed, otherwise, phaseListing, then(fallBack, list)},
	{phaseStreaming, InputIdleElapsed, timerLate, phaseStreaming, readFirst},
	{phaseStreaming, InputIdleElapsed, otherwise, phaseListing, then(fallBackForGood, list)},
	{phaseStreaming, InputDeadlineElapsed, always, phaseListing, then(fallBackForGood, list)},

	// The initial state as a list, in pages.
	{phaseListing, InputPageListed, listTooLong, phaseBackingOff, failRound},
	{phaseListing, InputPageListed, tokenRepeatedInPages, phaseListing, listWhole},
	{phaseListing, InputPageListed, tokenRepeated, phaseBackingOff, failRound},
	{phaseListing, InputPageListed, morePages, phaseListing, listNextPage},
	{phaseListing, InputPageListed, otherwise, phaseReplacing, replaceFromList},
	{phaseListing, InputListFailed, tokenExpired, phaseListing, listWhole},
	{phaseListing, InputListFailed, canStartFresh, phaseListing, then(forgetPosition, list)},
	{phaseListing, InputListFailed, otherwise, phaseBackingOff, failRound},
	{phaseListing, InputDeadlineElapsed, always, phaseBackingOff, failRound},

	{phaseReplacing, InputReplaced, fromStream, phaseWatching, followStream},
	{phaseReplacing, InputReplaced, otherwise, phaseOpeningWatch, then(replaced, openWatch)},
	{phaseReplacing, InputReplaceFailed, always, phaseBackingOff, failRound},

	// The changes after it.
	{phaseOpeningWatch, InputOpened, always, phaseWatching, readWatch},
	{phaseOpeningWatch, InputOpenFailed, recoveryIs(Retry), phaseBackingOff, pause},
	{phaseOpeningWatch, InputOpenFailed, notReached, phaseBackingOff, then(forgetPosition, failRound)},
	{phaseOpeningWatch, InputOpenFailed, positionGone, phaseBackingOff, then(noteGone, failRound)},
	{phaseOpeningWatch, InputOpenFailed, otherwise, phaseBackingOff, failRound},
	{phaseOpeningWatch, InputIdleElapsed, timerLate, phaseOpeningWatch, readFirst},
	{phaseOpeningWatch, InputIdleElapsed, otherwise, phaseBackingOff, then(noteIdle, pause)},
	{phaseOpeningWatch, InputThrottled, always, phaseOpeningWatch, allowForLimiter},
	{phaseOpeningWatch, InputResyncFailed, always, phaseBackingOff, failRound},

	{phaseWatching, InputEvent, always, phaseWatching, apply},
	{phaseWatching, InputBookmark, always, phaseWatching, mark},
	{phaseWatching, InputStreamEnded, veryShort, phaseBackingOff, failRound},
	{phaseWatching, InputStreamEnded, veryShortAgain, phaseBackingOff, pause},
	{phaseWatching, InputStreamEnded, unresumable, phaseListing, then(endWatch, list)},
	{phaseWatching, InputStreamEnded, withoutNews, phaseOpeningWatch, then(endWatch, openWatchVerified)},
	{phaseWatching, InputStreamEnded, otherwise, phaseOpeningWatch, then(endWatch, openWatch)},
	{phaseWatching, InputStreamFailed, both(recoveryIs(Resume), veryShort), phaseBackingOff, failRound},
	{phaseWatching, InputStreamFailed, both(recoveryIs(Resume), veryShortAgain), phaseBackingOff, pause},
	{phaseWatching, InputStreamFailed, both(recoveryIs(Resume), unresumable), phaseListing, then(endWatch, list)},
	{phaseWatching, InputStreamFailed, both(recoveryIs(Resume), withoutNews), phaseOpeningWatch, then(endWatch, openWatchVerified)},
	{phaseWatching, InputStreamFailed, recoveryIs(Resume), phaseOpeningWatch, then(endWatch, openWatch)},
	{phaseWatching, InputStreamFailed, recoveryIs(Retry), phaseBackingOff, pause},
	{phaseWatching, InputStreamFailed, internalBudgetLeft, phaseBackingOff, then(countInternal, pause)},
	{phaseWatching, InputStreamFailed, positionGone, phaseBackingOff, then(noteGone, failRound)},
	{phaseWatching, InputStreamFailed, otherwise, phaseBackingOff, then(countInternal, failRound)},
	{phaseWatching, InputIdleElapsed, timerLate, phaseWatching, readFirst},
	{phaseWatching, InputIdleElapsed, unresumable, phaseListing, then(giveUpSilent, list)},
	{phaseWatching, InputIdleElapsed, otherwise, phaseOpeningWatch, then(giveUpSilent, openWatchVerified)},
	{phaseWatching, InputResyncFailed, always, phaseBackingOff, failRound},

	// Failure.
	{phaseBackingOff, InputDelayDrawn, always, phaseBackingOff, waitDelay},
	{phaseBackingOff, InputBackOffElapsed, verifyNext, phaseOpeningWatch, openWatchVerified},
	{phaseBackingOff, InputBackOffElapsed, positionKept, phaseOpeningWatch, openWatch},
	{phaseBackingOff, InputBackOffElapsed, streamingWanted, phaseOpeningStream, openStream},
	{phaseBackingOff, InputBackOffElapsed, otherwise, phaseListing, list},
	{phaseBackingOff, InputResyncFailed, positionKept, phaseBackingOff, dropPosition},
}, everywhere()...)

// everywhere returns the rows of (nearly) all phases. PhaseReplacing has only the store's outcome
// as an input: Stop and the timers wait for it.
func everywhere() []transition {
	var rows []transition
	for phase := phaseIdle; phase < phaseStopped; phase++ {
		if phase == phaseReplacing {
			continue
		}
		rows = append(rows, transition{phase, InputStop, always, phaseStopped, stop})
		switch phase {
		case phaseIdle:
		case phaseOpeningWatch, phaseWatching: // which imply that the store has had a list
			rows = append(rows, transition{phase, InputResyncElapsed, always, phase, resync})
		default:
			rows = append(rows,
				transition{phase, InputResyncElapsed, hasSynced, phase, resync},
				transition{phase, InputResyncElapsed, otherwise, phase, skipResync})
		}
	}
	return rows
}

// The conditions, with their words in the diagram.
var (
	always    = condition{}
	otherwise = condition{text: "otherwise"}

	streamingWanted = condition{"streaming list wanted", func(r *rules, s *state, _ *input) bool {
		return r.streaming && !s.refused
	}}
	hasSynced    = condition{"synced", func(_ *rules, s *state, _ *input) bool { return s.Synced }}
	positionKept = condition{"position kept", func(_ *rules, s *state, _ *input) bool { return s.keepPosition }}
	verifyNext   = condition{"no answer, position kept", func(_ *rules, s *state, _ *input) bool { return s.verifyNext }}
	fromStream   = condition{"from a stream", func(_ *rules, s *state, _ *input) bool { return s.streaming }}

	unresumable = condition{"not resumable", func(_ *rules, s *state, _ *input) bool {
		return !s.resumable()
	}}

	// A server that has not reached the position opens one watch after the other, and sends nothing
	// on any. A long watch ends by its idle timeout; those with a short limit end before.
	withoutNews = condition{"short watches, nothing for minutes", func(r *rules, s *state, in *input) bool {
		return !s.keepalive && r.silentIdle > 0 && in.now-s.newsAt >= longWithoutNews
	}}

	timerLate = condition{"the timer was late", func(_ *rules, s *state, in *input) bool {
		return !s.timerLate && in.now-s.idleAt >= lateTimer
	}}

	// canStartFresh does not hold twice in a row: if even a consistent read (at "") is refused, the
	// cause is elsewhere.
	canStartFresh = condition{"position refused", func(_ *rules, s *state, in *input) bool {
		return s.requestRV != "" && RecoveryFor(s.Phase, in.cause) == StartFresh
	}}

	// notReached holds if the list that verifies the position has refused it.
	notReached = condition{"verified, too large", func(_ *rules, s *state, in *input) bool {
		return s.verifying && in.cause == reflector.CauseTooLarge
	}}
	positionGone = condition{"expired or too large", func(_ *rules, _ *state, in *input) bool {
		return in.cause == reflector.CauseExpired || in.cause == reflector.CauseTooLarge
	}}

	endsInitialEvents = condition{"initial events end", func(_ *rules, _ *state, in *input) bool {
		return in.initial && in.rv != ""
	}}
	attemptsLeft = condition{"attempts left", func(r *rules, s *state, _ *input) bool { return s.broken+1 < r.attempts }}

	listTooLong = condition{"too many items or pages", func(r *rules, s *state, in *input) bool {
		items := s.items + in.items
		return items > r.maxItems || s.page > items+reflector.EmptyPages
	}}
	tooManyInitial = condition{"too many initial events", func(r *rules, s *state, _ *input) bool {
		return s.changes >= r.maxItems
	}}
	tokenRepeated = condition{"token repeated", func(_ *rules, s *state, in *input) bool {
		return in.token != "" && in.token == s.mark
	}}
	tokenRepeatedInPages = condition{"token repeated in pages", func(r *rules, s *state, in *input) bool {
		return !s.whole && tokenRepeated.holds(r, s, in)
	}}
	morePages    = condition{"more pages", func(_ *rules, _ *state, in *input) bool { return in.token != "" }}
	tokenExpired = condition{"token expired", func(_ *rules, s *state, in *input) bool {
		return in.cause == reflector.CauseExpired && s.token != "" && !s.whole
	}}

	// A very short watch that delivered nothing is suspicious: the position may be at fault, so the
	// state is fetched again. A server may go on with very short watches that deliver something; they
	// must not be reopened in a busy loop.
	veryShort = condition{"very short, nothing came", func(_ *rules, s *state, in *input) bool {
		return in.now-s.openedAt < reflector.VeryShortWatch && s.delivered == 0
	}}
	veryShortAgain = condition{"very short, no progress or not the first", func(_ *rules, s *state, in *input) bool {
		return in.now-s.openedAt < reflector.VeryShortWatch && (s.brief || s.unmoved())
	}}
	internalBudgetLeft = condition{"Internal, budget left", func(r *rules, s *state, in *input) bool {
		return in.cause == reflector.CauseInternal && in.now-s.internalSeries(in.now) < r.internalBudget
	}}
)

// recoveryIs holds if RecoveryFor returns this recovery action.
func recoveryIs(recovery Recovery) condition {
	return condition{recovery.String(), func(_ *rules, s *state, in *input) bool {
		return RecoveryFor(s.Phase, in.cause) == recovery
	}}
}

// both holds if both conditions do.
func both(a, b condition) condition {
	return condition{a.text + ", " + b.text, func(r *rules, s *state, in *input) bool {
		return a.holds(r, s, in) && b.holds(r, s, in)
	}}
}
