package machine

import (
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// longWithoutNews is how long a server may send nothing, on any number of watches, until it is
// asked whether it has reached the position. kube-apiserver's bookmark interval is a third of that.
const longWithoutNews = 3 * time.Minute

// lateTimer: an idle timer that fires this late shows that the process was suspended.
const lateTimer = 2 * time.Second

func start(r *rules, s *state, in *input, _ *effects) { s.timers.resync = after(in.now, r.resync) }

func stop(_ *rules, s *state, in *input, do *effects) {
	do.close(s, in, nil)
	do.add(effectDiscard)
	do.add(effectHalt)
}

// openStream requests the state as a stream (KEP-3157): from "", or not older than the position.
func openStream(r *rules, s *state, in *input, do *effects) {
	s.Rounds++
	s.Watches++
	s.request = request{rv: s.ResourceVersion, at: in.now}
	if s.ResourceVersionRefused {
		s.request.rv = ""
	}
	s.timers.idle = after(in.now, r.streamIdle)
	s.timers.deadline = after(in.now, r.streamDeadline)
	open := do.add(effectOpen)
	// A short stream may end before its initial events do. The next one is not short then.
	open.short = r.short(s, in) && s.server.broken == 0
	open.options = api.ListOptions{
		ResourceVersion:      s.request.rv,
		ResourceVersionMatch: api.MatchNotOlderThan,
		SendInitialEvents:    true,
		AllowWatchBookmarks:  true,
	}
}

func readStream(r *rules, s *state, in *input, do *effects) {
	s.countFrom(in.now)
	s.opened(r, in)
	s.stream.heardAt = in.now
	s.timers.idle = after(in.now, r.streamIdle)
	do.add(effectRead)
}

// collect takes an initial event. The idle timeout counts from the last ADDED one: a server that
// never ends the initial events also sends ordinary changes, and those must not keep the reflector
// waiting forever.
func collect(r *rules, s *state, in *input, do *effects) {
	if in.added {
		s.timers.idle = after(in.now, r.streamIdle)
	}
	s.stream.heardAt = in.now
	s.Events++
	s.stream.delivered++
	s.stream.changes++
	do.add(effectCollect)
}

func keepStreaming(r *rules, s *state, in *input, _ *effects) {
	s.stream.heardAt = in.now
	s.timers.idle = after(in.now, r.streamIdle)
	s.Bookmarks++
	s.stream.delivered++
}

func replaceFromStream(_ *rules, s *state, in *input, do *effects) {
	s.fetched = fetched{rv: in.rv, streamed: true}
	replace := do.add(effectReplace)
	replace.rv, replace.streamed, replace.lasted = in.rv, true, in.now-s.request.at
}

// replaced records that the store has the state as of listRV.
func replaced(_ *rules, s *state, in *input, _ *effects) {
	s.server.newsAt = in.now
	s.ResourceVersion, s.ResourceVersionRefused, s.Synced = s.fetched.rv, false, true
	s.fetched = fetched{}
	s.undated = !s.definite()
	s.server.broken = 0
}

// followStream continues a stream whose initial events are in the store as the watch.
func followStream(r *rules, s *state, in *input, do *effects) {
	replaced(r, s, in, do)
	s.countFrom(in.now)
	s.watch.synthetic = false
	s.hear(in.now)
}

func countBroken(_ *rules, s *state, _ *input, _ *effects) { s.server.broken++ }

// fallBack lists instead of streaming, by a consistent read if not even that could be streamed.
// Streaming lists are not requested again from a server that has refused them.
func fallBack(r *rules, s *state, in *input, do *effects) {
	s.LastError = r.failure(s, in)
	s.server.refused = s.server.refused || in.cause == reflector.CauseRefused
	s.ResourceVersionRefused = s.ResourceVersionRefused || recoveryFor(s.Phase, in.cause) == startFresh
	do.close(s, in, s.LastError)
	do.add(effectDiscard)
	do.add(effectNoteLister).err = s.LastError
}

// fallBackForGood is for a server that accepts the request and does not understand it: waiting for
// its bookmark once is enough (kubernetes issues 135895, 139716).
func fallBackForGood(r *rules, s *state, in *input, do *effects) {
	s.server.refused = true
	fallBack(r, s, in, do)
}

// list requests the first page.
func list(r *rules, s *state, in *input, do *effects) {
	s.Rounds++
	s.request = request{rv: s.startRV(), at: in.now}
	s.listing, s.fetched = listing{limit: r.limit(s)}, fetched{}
	r.askPage(s, in, do, 1)
}

// limit returns the page size of a list. A list at a known version can come from the watch cache of
// the server, as a whole; pages would come from etcd instead.
func (r *rules) limit(s *state) int64 {
	switch {
	case r.pageSize != 0:
		return r.pageSize
	case s.request.rv == "" || s.request.rv == "0" || s.server.pagedZero:
		return reflector.PageSize
	default:
		return 0
	}
}

func (r *rules) askPage(s *state, in *input, do *effects, page int) {
	s.listing.page = page
	s.Lists++
	s.timers.deadline = after(in.now, r.listTimeout)
	ask := do.add(effectList)
	ask.options.Limit, ask.options.Continue = s.listing.limit, s.listing.token
	if page == 1 {
		ask.options.ResourceVersion = s.request.rv // later pages have it in the token
		if s.listing.limit > 0 && definite(s.request.rv) {
			// Without it the first page would be that of the old state itself.
			ask.options.ResourceVersionMatch = api.MatchNotOlderThan
		}
	}
}

func listNextPage(r *rules, s *state, in *input, do *effects) {
	if s.listing.page == 1 {
		s.fetched.rv = in.rv
	}
	s.listing.token = in.token
	s.listing.items += in.items
	if s.listing.page&(s.listing.page-1) == 0 {
		s.listing.mark = in.token // a later page with this token closes a circle, of whatever length
	}
	do.add(effectKeepPage)
	r.askPage(s, in, do, s.listing.page+1)
}

// listWhole requests everything at once, at the version of the first page, because the pages cannot
// be completed.
func listWhole(r *rules, s *state, in *input, do *effects) {
	s.listing, s.fetched = listing{whole: true}, fetched{}
	do.add(effectDiscard)
	r.askPage(s, in, do, 1)
}

func replaceFromList(_ *rules, s *state, in *input, do *effects) {
	if s.listing.page == 1 {
		s.fetched.rv = in.rv
	}
	if s.request.rv == "0" && s.listing.page > 1 && !s.listing.whole {
		s.server.pagedZero = true
	}
	do.add(effectKeepPage)
	replace := do.add(effectReplace)
	replace.rv, replace.pages, replace.lasted = s.fetched.rv, s.listing.page, in.now-s.request.at
}

func openWatch(r *rules, s *state, in *input, do *effects) {
	s.Watches++
	s.request = request{rv: s.ResourceVersion, at: in.now}
	s.watch.verifying = false
	s.watch.synthetic = !s.definite()
	s.watch.answerWithin = r.silentIdle
	if in.kind == inputIdleElapsed {
		s.watch.answerWithin = min(r.silentIdle, answerAfterSilence)
	}
	s.timers.idle = after(in.now, s.watch.answerWithin)
	open := do.add(effectOpen)
	open.short = r.short(s, in)
	open.options.ResourceVersion, open.options.AllowWatchBookmarks = s.request.rv, true
}

// openWatchVerified asks first whether the server has reached the position. A server that was
// restored from a backup has not, accepts the watch all the same, and sends nothing until it has.
func openWatchVerified(r *rules, s *state, in *input, do *effects) {
	openWatch(r, s, in, do)
	s.watch.verifying = true
	do.last().verify = true
}

// allowForLimiter moves the idle timer while a request waits for the client's own rate limiter.
func allowForLimiter(_ *rules, s *state, in *input, _ *effects) {
	s.timers.idle = max(s.timers.idle, after(in.now+in.delay, s.watch.answerWithin))
}

func readWatch(r *rules, s *state, in *input, do *effects) {
	s.countFrom(in.now)
	s.opened(r, in)
	s.hear(in.now)
	if s.watch.verifying {
		s.server.newsAt = in.now
	}
	do.add(effectRead)
}

// apply passes a change to the store and moves the position. A watch that began at no definite
// version opens with the current objects in undefined order, as ADDED events, which must not move
// the position.
func apply(_ *rules, s *state, in *input, do *effects) {
	s.watch.synthetic = s.watch.synthetic && in.added
	if in.rv != "" && !s.watch.synthetic {
		s.ResourceVersion = in.rv
	}
	s.stream.delivered++
	s.stream.changes++
	s.Events++
	s.server.newsAt = in.now
	s.hear(in.now)
	do.add(effectApply)
}

// mark moves the position to that of a bookmark and notifies the store. A bookmark without a
// version only shows that the connection works.
func mark(_ *rules, s *state, in *input, do *effects) {
	do.add(effectMark).rv = in.rv
	if in.rv != "" {
		s.ResourceVersion = in.rv
	}
	s.watch.synthetic = false
	s.stream.delivered++
	s.Bookmarks++
	s.server.newsAt = in.now
	s.hear(in.now)
}

// endWatch closes a watch that is reopened at once.
func endWatch(_ *rules, s *state, in *input, do *effects) {
	s.judge(in.now)
	do.close(s, in, in.err)
}

// giveUpSilent closes a watch that was silent for the idle timeout.
func giveUpSilent(_ *rules, s *state, in *input, do *effects) {
	do.add(effectNoteIdle).lasted = in.now - s.stream.heardAt
	s.judge(in.now)
	do.close(s, in, reflector.ErrIdle)
}

func noteIdle(_ *rules, s *state, in *input, do *effects) {
	do.add(effectNoteIdle).lasted = in.now - s.request.at
}

// forgetPosition is for a version that the server refuses for a list. After a watch was refused, a
// list that is not older than its version is still possible, and may come from the server's cache.
func forgetPosition(r *rules, s *state, in *input, do *effects) {
	s.ResourceVersionRefused = true
	noteGone(r, s, in, do)
}

func noteGone(_ *rules, s *state, in *input, do *effects) {
	lost := s.request.rv
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
	s.backingOff.keepPosition = false
	do.add(effectReport).err = s.LastError
	r.backOff(s, in, do)
}

// pause keeps the position, if a watch can continue there: after a back-off the watch is opened
// again.
func pause(r *rules, s *state, in *input, do *effects) {
	r.endRound(s, in, do)
	s.backingOff.keepPosition = s.resumable()
	noAnswer := in.cause == reflector.CauseUnreachable || in.kind == inputIdleElapsed
	s.backingOff.verifyNext = s.backingOff.keepPosition && (noAnswer || in.kind == inputOpenFailed && s.watch.verifying)
	r.backOff(s, in, do)
}

func (r *rules) endRound(s *state, in *input, do *effects) {
	s.judge(in.now)
	s.LastError = r.failure(s, in)
	s.fetched = fetched{}
	do.close(s, in, s.LastError)
	do.add(effectDiscard)
}

func (r *rules) backOff(s *state, in *input, do *effects) {
	draw := do.add(effectDraw)
	draw.fresh, draw.atLeast, draw.err = s.failure.healthy, min(in.retryAfter, reflector.LongestRetryAfter), s.LastError
	if s.failure.healthy {
		s.Failures = 0
	}
	s.Failures++
	s.failure.healthy = false
}

func waitDelay(_ *rules, s *state, in *input, do *effects) {
	s.timers.backOff = after(in.now, max(in.delay, 1))
	do.add(effectWait)
}

// dropPosition makes a list follow the back-off: the content of the store is in doubt.
func dropPosition(r *rules, s *state, in *input, do *effects) {
	s.backingOff = backingOff{}
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
	if r.resync > 0 && in.now >= s.timers.resync {
		s.timers.resync += r.resync * ((in.now-s.timers.resync)/r.resync + 1)
	}
}

// countFrom starts the counters of a stream.
func (s *state) countFrom(now time.Duration) {
	s.stream.openedAt, s.stream.delivered, s.stream.changes = now, 0, 0
}

// unmoved reports whether the watch has delivered no change, or none that moved the position.
func (s *state) unmoved() bool { return s.stream.changes == 0 || s.ResourceVersion == s.request.rv }

// judge records whether the watch that ends, if one is open, was very short, and whether it has
// shown that server and connection work.
func (s *state) judge(now time.Duration) {
	if s.Phase != phaseWatching {
		return
	}
	lasted := now - s.stream.openedAt
	s.failure.brief = lasted < reflector.VeryShortWatch
	s.failure.healthy = s.failure.healthy || s.stream.delivered > 0 || lasted >= reflector.HealthyWatch
}

// after returns the time of a timer; one with a duration of 0 or less never fires.
func after(now, d time.Duration) time.Duration {
	if d <= 0 || d > never-now {
		return never
	}
	return now + d
}

// A connection can die without an error: a firewall has dropped it, or the other machine has lost
// power. It looks like an idle one. If the client sends keepalives, those fail. Otherwise the
// reflector gives up a watch that is silent for too long:
//
//   - without keepalive the server is asked to end each watch before the idle timeout. A quiet
//     watch on a healthy connection ends normally; only a dead one stays silent until the timeout;
//   - with keepalive, silence means that the server sends no bookmarks, or that it is gone and a
//     proxy answers for it. The timeout is long.

// answerAfterSilence is how long a server may take to open the watch that replaces a silent one.
const answerAfterSilence = 10 * time.Second

// opened records whether the stream's connection has a keepalive, and sets the idle timeout.
func (s *state) opened(r *rules, in *input) {
	s.stream.keepalive, s.server.noKeepalive = in.keepalive, !in.keepalive
	s.watch.idleTimeout = r.silentIdle
	if in.keepalive {
		s.watch.idleTimeout = r.idle
	}
}

// short reports whether to request a watch shorter than the idle timeout, because its connection
// has no keepalive. Below three seconds it returns false: servers count whole seconds.
func (r *rules) short(s *state, in *input) bool {
	return (s.server.noKeepalive || in.noKeepalive) && r.silentIdle >= 3*time.Second
}

// hear records that something arrived on a watch: the idle timeout counts from now.
func (s *state) hear(now time.Duration) {
	s.stream.heardAt = now
	s.timers.idle = after(now, s.watch.idleTimeout)
}
