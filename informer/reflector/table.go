package reflector

// table is the whole behaviour of a Reflector. To follow an incident, find the phase, then the input, then the
// first row whose condition holds. The diagram in the package documentation is drawn from it.
var table = append([]transition{
	{PhaseIdle, InputStart, streamingWanted, PhaseOpeningStream, then(start, openStream)},
	{PhaseIdle, InputStart, otherwise, PhaseListing, then(start, list)},

	// The initial state as a stream (KEP-3157). Whatever goes wrong with it for good, a list is the way out.
	{PhaseOpeningStream, InputOpened, always, PhaseStreaming, readStream},
	{PhaseOpeningStream, InputOpenFailed, canStartFresh, PhaseOpeningStream, then(forgetPosition, openStream)},
	{PhaseOpeningStream, InputOpenFailed, remedyIs(Retry), PhaseBackingOff, failRound},
	{PhaseOpeningStream, InputOpenFailed, otherwise, PhaseListing, then(fallBack, list)},
	{PhaseOpeningStream, InputIdleElapsed, rangLate, PhaseOpeningStream, allowForSleep},
	{PhaseOpeningStream, InputIdleElapsed, otherwise, PhaseListing, then(fallBack, list)},
	{PhaseOpeningStream, InputDeadlineElapsed, always, PhaseListing, then(fallBack, list)},

	{PhaseStreaming, InputEvent, always, PhaseStreaming, collect},
	{PhaseStreaming, InputBookmark, endsInitialEvents, PhaseReplacing, replaceFromStream},
	{PhaseStreaming, InputBookmark, otherwise, PhaseStreaming, keepAwake},
	{PhaseStreaming, InputStreamEnded, attemptsLeft, PhaseBackingOff, then(countBroken, failRound)},
	{PhaseStreaming, InputStreamEnded, otherwise, PhaseListing, then(fallBack, list)},
	{PhaseStreaming, InputStreamFailed, canStartFresh, PhaseOpeningStream, then(forgetPosition, openStream)},
	{PhaseStreaming, InputStreamFailed, retryWithAttemptsLeft, PhaseBackingOff, then(countBroken, failRound)},
	{PhaseStreaming, InputStreamFailed, otherwise, PhaseListing, then(fallBack, list)},
	{PhaseStreaming, InputIdleElapsed, rangLate, PhaseStreaming, allowForSleep},
	{PhaseStreaming, InputIdleElapsed, otherwise, PhaseListing, then(fallBackForGood, list)},
	{PhaseStreaming, InputDeadlineElapsed, always, PhaseListing, then(fallBackForGood, list)},

	// The initial state as a list, in pages.
	{PhaseListing, InputPageListed, versionMissing, PhaseBackingOff, failRound},
	{PhaseListing, InputPageListed, tokenRepeatedInPages, PhaseListing, listWhole},
	{PhaseListing, InputPageListed, tokenRepeated, PhaseBackingOff, failRound},
	{PhaseListing, InputPageListed, morePages, PhaseListing, listNextPage},
	{PhaseListing, InputPageListed, otherwise, PhaseReplacing, replaceFromList},
	{PhaseListing, InputListFailed, tokenExpired, PhaseListing, listWhole},
	{PhaseListing, InputListFailed, canStartFresh, PhaseListing, then(forgetPosition, list)},
	{PhaseListing, InputListFailed, otherwise, PhaseBackingOff, failRound},
	{PhaseListing, InputDeadlineElapsed, always, PhaseBackingOff, failRound},

	{PhaseReplacing, InputReplaced, fromStream, PhaseWatching, followStream},
	{PhaseReplacing, InputReplaced, otherwise, PhaseOpeningWatch, then(replaced, openWatch)},
	{PhaseReplacing, InputReplaceFailed, always, PhaseBackingOff, failRound},

	// The changes after it.
	{PhaseOpeningWatch, InputOpened, always, PhaseWatching, readWatch},
	{PhaseOpeningWatch, InputOpenFailed, remedyIs(Retry), PhaseBackingOff, pause},
	{PhaseOpeningWatch, InputOpenFailed, remedyIs(StartFresh), PhaseBackingOff, then(forgetPosition, failRound)},
	{PhaseOpeningWatch, InputOpenFailed, otherwise, PhaseBackingOff, failRound},
	{PhaseOpeningWatch, InputIdleElapsed, rangLate, PhaseOpeningWatch, allowForSleep},
	{PhaseOpeningWatch, InputIdleElapsed, otherwise, PhaseBackingOff, then(noteIdle, pause)},
	{PhaseOpeningWatch, InputResyncFailed, always, PhaseBackingOff, failRound},

	{PhaseWatching, InputEvent, oldNews, PhaseWatching, passOver},
	{PhaseWatching, InputEvent, otherwise, PhaseWatching, apply},
	{PhaseWatching, InputBookmark, always, PhaseWatching, mark},
	{PhaseWatching, InputStreamEnded, veryShort, PhaseBackingOff, failRound},
	{PhaseWatching, InputStreamEnded, shortAndUnchanged, PhaseBackingOff, pause},
	{PhaseWatching, InputStreamEnded, withoutNews, PhaseOpeningWatch, then(endWatch, openWatchAgain)},
	{PhaseWatching, InputStreamEnded, otherwise, PhaseOpeningWatch, then(endWatch, openWatch)},
	{PhaseWatching, InputStreamFailed, resumeAfterVeryShort, PhaseBackingOff, failRound},
	{PhaseWatching, InputStreamFailed, resumeAfterShort, PhaseBackingOff, pause},
	{PhaseWatching, InputStreamFailed, resumeWithoutNews, PhaseOpeningWatch, then(endWatch, openWatchAgain)},
	{PhaseWatching, InputStreamFailed, remedyIs(Resume), PhaseOpeningWatch, then(endWatch, openWatch)},
	{PhaseWatching, InputStreamFailed, remedyIs(Retry), PhaseBackingOff, pause},
	{PhaseWatching, InputStreamFailed, internalBudgetLeft, PhaseBackingOff, then(countInternal, pause)},
	{PhaseWatching, InputStreamFailed, remedyIs(StartFresh), PhaseBackingOff, then(forgetPosition, failRound)},
	{PhaseWatching, InputStreamFailed, otherwise, PhaseBackingOff, then(countInternal, failRound)},
	{PhaseWatching, InputIdleElapsed, rangLate, PhaseWatching, allowForSleep},
	{PhaseWatching, InputIdleElapsed, otherwise, PhaseOpeningWatch, then(doubt, openWatchAgain)},
	{PhaseWatching, InputResyncFailed, always, PhaseBackingOff, failRound},

	// Failure.
	{PhaseBackingOff, InputDelayDrawn, always, PhaseBackingOff, wait},
	{PhaseBackingOff, InputBackOffElapsed, lostSight, PhaseOpeningWatch, openWatchAgain},
	{PhaseBackingOff, InputBackOffElapsed, positionKept, PhaseOpeningWatch, openWatch},
	{PhaseBackingOff, InputBackOffElapsed, streamingWanted, PhaseOpeningStream, openStream},
	{PhaseBackingOff, InputBackOffElapsed, otherwise, PhaseListing, list},
	{PhaseBackingOff, InputResyncFailed, positionKept, PhaseBackingOff, dropPosition},
}, everywhere()...)

// everywhere is what can happen in every phase, or nearly. Nothing but its outcome happens in PhaseReplacing, where the
// store is at work: Stop and the timers wait for it.
func everywhere() []transition {
	var rows []transition
	for phase := PhaseIdle; phase < PhaseStopped; phase++ {
		if phase == PhaseReplacing {
			continue
		}
		rows = append(rows, transition{phase, InputStop, always, PhaseStopped, stop})
		switch phase {
		case PhaseIdle:
		case PhaseOpeningWatch, PhaseWatching: // which imply that the store has had a list
			rows = append(rows, transition{phase, InputResyncElapsed, always, phase, resync})
		default:
			rows = append(rows,
				transition{phase, InputResyncElapsed, hasSynced, phase, resync},
				transition{phase, InputResyncElapsed, otherwise, phase, skipResync})
		}
	}
	return rows
}

// The conditions, each with its words in the diagram.
var (
	always    = condition{}
	otherwise = condition{text: "otherwise"}

	streamingWanted = condition{"streaming list wanted", func(r *rules, s state, _ input) bool {
		return r.streaming && !s.refused
	}}
	hasSynced    = condition{"synced", func(_ *rules, s state, _ input) bool { return s.synced }}
	positionKept = condition{"position kept", func(_ *rules, s state, _ input) bool { return s.keepPosition }}
	lostSight    = condition{"nobody answered, position kept", func(_ *rules, s state, _ input) bool { return s.lostSight }}
	fromStream   = condition{"from a stream", func(_ *rules, s state, _ input) bool { return s.streaming }}

	// A server that has not reached the position opens one watch after the other, and sends nothing on any. A long watch is
	// given up for its silence; those with a short limit end before.
	withoutNews = condition{"short watches, nothing for minutes", func(r *rules, s state, in input) bool {
		return !s.lives && r.muteIdle > 0 && in.now-s.newsAt >= longWithoutNews
	}}
	resumeWithoutNews = condition{"Resume, short watches, nothing for minutes", func(r *rules, s state, in input) bool {
		return RemedyFor(s.phase, in.cause) == Resume && withoutNews.holds(r, s, in)
	}}

	rangLate = condition{"the timer was late", func(_ *rules, s state, in input) bool {
		return !s.overslept && in.now-s.idleAt >= lateTimer
	}}

	// canStartFresh holds once in a row: if even the consistent read (at "") is refused, the cause is elsewhere.
	canStartFresh = condition{"position refused", func(_ *rules, s state, in input) bool {
		return s.requestRV != "" && RemedyFor(s.phase, in.cause) == StartFresh
	}}

	endsInitialEvents = condition{"initial events end", func(_ *rules, _ state, in input) bool {
		return in.initial && in.rv != ""
	}}
	attemptsLeft = condition{"attempts left", func(r *rules, s state, _ input) bool { return s.broken+1 < r.attempts }}

	retryWithAttemptsLeft = condition{"Retry, attempts left", func(r *rules, s state, in input) bool {
		return RemedyFor(s.phase, in.cause) == Retry && attemptsLeft.holds(r, s, in)
	}}

	versionMissing = condition{"no resourceVersion", func(_ *rules, s state, in input) bool {
		return s.page == 1 && in.rv == ""
	}}
	tokenRepeated = condition{"token repeated", func(_ *rules, s state, in input) bool {
		return s.token != "" && in.token == s.token
	}}
	tokenRepeatedInPages = condition{"token repeated in pages", func(r *rules, s state, in input) bool {
		return !s.whole && tokenRepeated.holds(r, s, in)
	}}
	morePages    = condition{"more pages", func(_ *rules, _ state, in input) bool { return in.token != "" }}
	tokenExpired = condition{"token expired", func(_ *rules, s state, in input) bool {
		return in.cause == CauseExpired && s.token != "" && !s.whole
	}}

	oldNews = condition{"not newer than the position", func(_ *rules, s state, in input) bool { return s.oldNews(in.rv) }}

	// A very short watch that delivered nothing is suspicious: the position may be at fault, so the state is fetched
	// anew. One that delivered bookmarks only, or came no further than where it began, must not be re-opened in a hot loop.
	veryShort = condition{"very short, nothing came", func(_ *rules, s state, in input) bool {
		return in.now-s.openedAt < veryShortWatch && s.events == 0
	}}
	shortAndUnchanged = condition{"very short, no progress", func(_ *rules, s state, in input) bool {
		return in.now-s.openedAt < veryShortWatch && s.unmoved()
	}}
	resumeAfterVeryShort = condition{"Resume, very short, nothing came", func(r *rules, s state, in input) bool {
		return RemedyFor(s.phase, in.cause) == Resume && veryShort.holds(r, s, in)
	}}
	resumeAfterShort = condition{"Resume, very short, no progress", func(r *rules, s state, in input) bool {
		return RemedyFor(s.phase, in.cause) == Resume && shortAndUnchanged.holds(r, s, in)
	}}
	internalBudgetLeft = condition{"Internal, budget left", func(r *rules, s state, in input) bool {
		return in.cause == CauseInternal && in.now-s.internalSeries(in.now) < r.internalBudget
	}}
)

// remedyIs holds if the recovery table says so.
func remedyIs(remedy Remedy) condition {
	return condition{remedy.String(), func(_ *rules, s state, in input) bool {
		return RemedyFor(s.phase, in.cause) == remedy
	}}
}

// then does one action after the other, both in the phase that is left.
func then(first, second action) action {
	return func(r *rules, s state, in input) (state, []effect) {
		s, before := first(r, s, in)
		s, after := second(r, s, in)
		return s, append(before, after...)
	}
}
