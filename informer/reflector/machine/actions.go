package machine

import (
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// The thresholds of the actions.
const (
	// longWithoutNews is how long a server may send nothing, on any number of watches, until it is
	// asked whether it has reached the position. kube-apiserver's bookmark interval is a third of
	// that.
	longWithoutNews = 3 * time.Minute
	// internalPause is the time without internal errors after which the budget for them is full
	// again.
	internalPause = time.Minute
)

func start(r *rules, s *state, in *input, _ *effects) { s.resyncAt = after(in.now, r.resync) }

func stop(_ *rules, s *state, in *input, do *effects) {
	do.close(s, in, nil)
	do.add(effectDiscard)
	do.add(effectHalt)
}

// openStream requests the state as a stream (KEP-3157): from "", or not older than the position.
func openStream(r *rules, s *state, in *input, do *effects) {
	s.Rounds++
	s.Watches++
	s.requestRV = s.ResourceVersion
	if s.ResourceVersionRefused {
		s.requestRV = ""
	}
	s.requestedAt = in.now
	s.idleAfter(in.now, r.streamIdle)
	s.deadlineAt = after(in.now, r.streamDeadline)
	open := do.add(effectOpen)
	// A short stream may end before its initial events do. The next one is not short then.
	open.short = r.short(s, in) && s.broken == 0
	open.options = api.ListOptions{
		ResourceVersion:      s.requestRV,
		ResourceVersionMatch: api.MatchNotOlderThan,
		SendInitialEvents:    true,
		AllowWatchBookmarks:  true,
	}
}

func readStream(r *rules, s *state, in *input, do *effects) {
	s.countFrom(in.now)
	s.opened(r, in)
	s.heardAt = in.now
	s.idleAfter(in.now, r.streamIdle)
	do.add(effectRead)
}

// collect takes an initial event. The idle timeout counts from the last ADDED one: a server that
// never ends the initial events also sends ordinary changes, and those must not keep the reflector
// waiting forever.
func collect(r *rules, s *state, in *input, do *effects) {
	if in.added {
		s.idleAfter(in.now, r.streamIdle)
	}
	s.heardAt = in.now
	s.Events++
	s.delivered++
	s.changes++
	do.add(effectCollect)
}

func keepStreaming(r *rules, s *state, in *input, _ *effects) {
	s.heardAt = in.now
	s.idleAfter(in.now, r.streamIdle)
	s.Bookmarks++
	s.delivered++
}

func replaceFromStream(_ *rules, s *state, in *input, do *effects) {
	s.listRV, s.streaming = in.rv, true
	replace := do.add(effectReplace)
	replace.rv, replace.streamed, replace.lasted = in.rv, true, in.now-s.requestedAt
}

// replaced records that the store has the state as of listRV.
func replaced(_ *rules, s *state, in *input, _ *effects) {
	s.newsAt = in.now
	s.ResourceVersion, s.ResourceVersionRefused, s.Synced, s.streaming = s.listRV, false, true, false
	s.undated = !s.definite()
	s.broken = 0
}

// followStream continues a stream whose initial events are in the store as the watch.
func followStream(r *rules, s *state, in *input, do *effects) {
	replaced(r, s, in, do)
	s.countFrom(in.now)
	s.synthetic = false
	s.hear(in.now)
}

func countBroken(_ *rules, s *state, _ *input, _ *effects) { s.broken++ }

// fallBack lists instead of streaming, by a consistent read if not even that could be streamed.
// Streaming lists are not requested again from a server that has refused them.
func fallBack(r *rules, s *state, in *input, do *effects) {
	s.LastError = r.failure(s, in)
	s.refused = s.refused || in.cause == reflector.CauseRefused
	s.ResourceVersionRefused = s.ResourceVersionRefused || RecoveryFor(s.Phase, in.cause) == StartFresh
	do.close(s, in, s.LastError)
	do.add(effectDiscard)
	do.add(effectNoteLister).err = s.LastError
}

// fallBackForGood is for a server that accepts the request and does not understand it: waiting for
// its bookmark once is enough (kubernetes issues 135895, 139716).
func fallBackForGood(r *rules, s *state, in *input, do *effects) {
	s.refused = true
	fallBack(r, s, in, do)
}

// list requests the first page.
func list(r *rules, s *state, in *input, do *effects) {
	s.Rounds++
	s.requestRV = s.startRV()
	s.requestedAt = in.now
	s.limit = r.limit(s)
	s.whole, s.listRV, s.token, s.items, s.mark = false, "", "", 0, ""
	r.askPage(s, in, do, 1)
}

// limit returns the page size of a list. A list at a known version can come from the watch cache of
// the server, as a whole; pages would come from etcd instead.
func (r *rules) limit(s *state) int64 {
	switch {
	case r.pageSize != 0:
		return r.pageSize
	case s.requestRV == "" || s.requestRV == "0" || s.pagedZero:
		return reflector.DefaultPageSize
	default:
		return 0
	}
}

func (r *rules) askPage(s *state, in *input, do *effects, page int) {
	s.page = page
	s.Lists++
	s.deadlineAt = after(in.now, r.listTimeout)
	ask := do.add(effectList)
	ask.options.Limit, ask.options.Continue = s.limit, s.token
	if page == 1 {
		ask.options.ResourceVersion = s.requestRV // later pages have it in the token
		if s.limit > 0 && definite(s.requestRV) {
			// Without it the first page would be that of the old state itself.
			ask.options.ResourceVersionMatch = api.MatchNotOlderThan
		}
	}
}

func listNextPage(r *rules, s *state, in *input, do *effects) {
	if s.page == 1 {
		s.listRV = in.rv
	}
	s.token = in.token
	s.items += in.items
	if s.page&(s.page-1) == 0 {
		s.mark = in.token // a later page with this token closes a circle, of whatever length
	}
	do.add(effectKeepPage)
	r.askPage(s, in, do, s.page+1)
}

// listWhole requests everything at once, at the version of the first page, because the pages cannot
// be completed.
func listWhole(r *rules, s *state, in *input, do *effects) {
	s.whole, s.limit, s.token, s.listRV, s.items, s.mark = true, 0, "", "", 0, ""
	do.add(effectDiscard)
	r.askPage(s, in, do, 1)
}

func replaceFromList(_ *rules, s *state, in *input, do *effects) {
	if s.page == 1 {
		s.listRV = in.rv
	}
	if s.requestRV == "0" && s.page > 1 && !s.whole {
		s.pagedZero = true
	}
	do.add(effectKeepPage)
	replace := do.add(effectReplace)
	replace.rv, replace.pages, replace.lasted = s.listRV, s.page, in.now-s.requestedAt
}

func openWatch(r *rules, s *state, in *input, do *effects) {
	s.Watches++
	s.requestRV = s.ResourceVersion
	s.requestedAt = in.now
	s.verifying = false
	s.synthetic = !s.definite()
	s.answerWithin = r.silentIdle
	if in.kind == InputIdleElapsed {
		s.answerWithin = min(r.silentIdle, answerAfterSilence)
	}
	s.idleAfter(in.now, s.answerWithin)
	open := do.add(effectOpen)
	open.short = r.short(s, in)
	open.options.ResourceVersion, open.options.AllowWatchBookmarks = s.requestRV, true
}

// openWatchVerified asks first whether the server has reached the position. A server that was
// restored from a backup has not, accepts the watch all the same, and sends nothing until it has.
func openWatchVerified(r *rules, s *state, in *input, do *effects) {
	openWatch(r, s, in, do)
	s.verifying = true
	do.last().verify = true
}

// allowForLimiter moves the idle timer while a request waits for the client's own rate limiter.
func allowForLimiter(_ *rules, s *state, in *input, _ *effects) {
	s.idleAt = max(s.idleAt, after(in.now+in.delay, s.answerWithin))
}

func readWatch(r *rules, s *state, in *input, do *effects) {
	s.countFrom(in.now)
	s.opened(r, in)
	s.hear(in.now)
	if s.verifying {
		s.newsAt = in.now
	}
	do.add(effectRead)
}

// apply passes a change to the store and moves the position. A watch that began at no definite
// version opens with the current objects in undefined order, as ADDED events, which must not move
// the position.
func apply(_ *rules, s *state, in *input, do *effects) {
	s.synthetic = s.synthetic && in.added
	if in.rv != "" && !s.synthetic {
		s.ResourceVersion = in.rv
	}
	s.delivered++
	s.changes++
	s.Events++
	s.newsAt = in.now
	s.hear(in.now)
	do.add(effectApply)
}

// mark moves the position to that of a bookmark and notifies the store. A bookmark without a
// version only shows that the connection works.
func mark(r *rules, s *state, in *input, do *effects) {
	do.add(effectMark).rv = in.rv
	if in.rv != "" {
		s.ResourceVersion = in.rv
	}
	s.synthetic = false
	s.delivered++
	s.Bookmarks++
	s.newsAt = in.now
	s.learnBookmarkInterval(r, in.now)
	s.hear(in.now)
}

// endWatch closes a watch that is reopened at once.
func endWatch(_ *rules, s *state, in *input, do *effects) {
	s.judge(in.now)
	do.close(s, in, in.err)
}

// giveUpSilent closes a watch that was silent for the idle timeout. The bookmark interval must be
// learned again.
func giveUpSilent(_ *rules, s *state, in *input, do *effects) {
	do.add(effectNoteIdle).lasted = in.now - s.heardAt
	s.judge(in.now)
	do.close(s, in, reflector.ErrIdle)
	s.bookmarkInterval = 0
}

func noteIdle(_ *rules, s *state, in *input, do *effects) {
	do.add(effectNoteIdle).lasted = in.now - s.requestedAt
}

// countInternal records an internal error; other causes change nothing.
func countInternal(_ *rules, s *state, in *input, _ *effects) {
	if in.cause == reflector.CauseInternal {
		s.internalSince, s.internalLast = s.internalSeries(in.now), in.now
	}
}

// forgetPosition is for a version that the server refuses for a list. After a watch was refused, a
// list that is not older than its version is still possible, and may come from the server's cache.
func forgetPosition(r *rules, s *state, in *input, do *effects) {
	s.ResourceVersionRefused = true
	noteGone(r, s, in, do)
}

func noteGone(_ *rules, s *state, in *input, do *effects) {
	lost := s.requestRV
	if s.Phase == phaseWatching {
		lost = s.ResourceVersion
	}
	do.close(s, in, in.err)
	do.add(effectDiscard)
	gone := do.add(effectNoteGone)
	gone.rv, gone.err = lost, in.err
}

// failRound ends the round: after a back-off the complete state is fetched again.
func failRound(r *rules, s *state, in *input, do *effects) {
	r.endRound(s, in, do)
	s.keepPosition = false
	do.add(effectReport).err = s.LastError
	r.backOff(s, in, do)
}

// pause keeps the position, if a watch can continue there: after a back-off the watch is opened
// again.
func pause(r *rules, s *state, in *input, do *effects) {
	r.endRound(s, in, do)
	s.keepPosition = s.resumable()
	noAnswer := in.cause == reflector.CauseUnreachable || in.kind == InputIdleElapsed
	s.verifyNext = s.keepPosition && (noAnswer || in.kind == InputOpenFailed && s.verifying)
	r.backOff(s, in, do)
}

func (r *rules) endRound(s *state, in *input, do *effects) {
	s.judge(in.now)
	s.LastError = r.failure(s, in)
	s.streaming = false
	do.close(s, in, s.LastError)
	do.add(effectDiscard)
}

func (r *rules) backOff(s *state, in *input, do *effects) {
	draw := do.add(effectDraw)
	draw.fresh, draw.atLeast, draw.err = s.healthy, min(in.retryAfter, reflector.LongestRetryAfter), s.LastError
	if s.healthy {
		s.Failures = 0
	}
	s.Failures++
	s.healthy = false
}

func waitDelay(_ *rules, s *state, in *input, do *effects) {
	s.backOffAt = after(in.now, max(in.delay, 1))
	do.add(effectWait)
}

// dropPosition makes a list follow the back-off: the content of the store is in doubt.
func dropPosition(r *rules, s *state, in *input, do *effects) {
	s.keepPosition, s.verifyNext = false, false
	s.LastError = r.failure(s, in)
	do.add(effectReport).err = s.LastError
}

// resync makes the store resync and sets the timer to the next multiple of the period, so that
// neither a slow store nor a relist shifts the schedule (client-go restarts the timer with every
// relist).
func resync(r *rules, s *state, in *input, do *effects) {
	skipResync(r, s, in, do)
	do.add(effectResync)
}

func skipResync(r *rules, s *state, in *input, _ *effects) {
	if r.resync > 0 && in.now >= s.resyncAt {
		s.resyncAt += r.resync * ((in.now-s.resyncAt)/r.resync + 1)
	}
}

// countFrom starts the counters of a stream.
func (s *state) countFrom(now time.Duration) {
	s.openedAt, s.delivered, s.changes = now, 0, 0
	s.bookmarkAt = never
}

// unmoved reports whether the watch has delivered no change, or none that moved the position.
func (s *state) unmoved() bool { return s.changes == 0 || s.ResourceVersion == s.requestRV }

// judge records whether the watch that ends, if one is open, was very short, and whether it has
// shown that server and connection work.
func (s *state) judge(now time.Duration) {
	if s.Phase != phaseWatching {
		return
	}
	lasted := now - s.openedAt
	s.brief = lasted < reflector.VeryShortWatch
	s.healthy = s.healthy || s.delivered > 0 || lasted >= reflector.HealthyWatch
}

// internalSeries returns the time at which the current series of internal errors began, if one
// happens now.
func (s *state) internalSeries(now time.Duration) time.Duration {
	if s.internalLast == never || now-s.internalLast >= internalPause {
		return now
	}
	return s.internalSince
}

// after returns the time of a timer; one with a duration of 0 or less never fires.
func after(now, d time.Duration) time.Duration {
	if d <= 0 || d > never-now {
		return never
	}
	return now + d
}
