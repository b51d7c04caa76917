package machine

import (
	"time"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// What the actions measure by.
const (
	// longWithoutNews is for how long a server may send nothing, on however many watches, until it is asked whether it has
	// the position. It is three times as long as kube-apiserver's bookmarks are apart.
	longWithoutNews = 3 * time.Minute
	// internalPause is the time without internal errors after which their budget is full again.
	internalPause = time.Minute
)

func start(r *rules, s state, in input) (state, []effect) {
	s.resyncAt = after(in.now, r.resync)
	return s, nil
}

func stop(_ *rules, s state, in input) (state, []effect) {
	return s, []effect{closing(s, in, nil), {kind: effectDiscard}, {kind: effectHalt}}
}

// openStream asks for the state as a stream: "" or the position that must at least be reached, and "the initial
// events, please" (KEP-3157).
func openStream(r *rules, s state, in input) (state, []effect) {
	s.rounds++
	s.watches++
	s.requestRV = s.lastRV
	if s.unavailable {
		s.requestRV = ""
	}
	s.requestedAt = in.now
	s.overslept = false
	s.idleAt = after(in.now, r.silence)
	s.deadlineAt = after(in.now, r.deadline)
	// A brief one may be over before the initial events are: then the next one is not.
	brief := r.brief(s, in) && s.broken == 0
	return s, []effect{{kind: effectOpen, brief: brief, options: api.ListOptions{
		ResourceVersion:      s.requestRV,
		ResourceVersionMatch: api.MatchNotOlderThan,
		SendInitialEvents:    true,
		AllowWatchBookmarks:  true,
	}}}
}

func readStream(r *rules, s state, in input) (state, []effect) {
	s = s.countFrom(in.now)
	s.opened(r, in)
	s.heardAt = in.now
	s.idleAt = after(in.now, r.silence)
	return s, []effect{{kind: effectRead}}
}

var collectEffects = []effect{{kind: effectCollect}}

// collect takes an initial event. The silence is counted from the last ADDED one: a server that never ends the
// initial events goes on to send ordinary changes, and those must not keep us waiting for ever.
func collect(r *rules, s state, in input) (state, []effect) {
	if in.added {
		s.idleAt = after(in.now, r.silence)
		s.overslept = false
	}
	s.heardAt = in.now
	s.totalEvents++
	s.events++
	s.changes++
	return s, collectEffects
}

func keepAwake(r *rules, s state, in input) (state, []effect) {
	s.heardAt = in.now
	s.idleAt = after(in.now, r.silence)
	s.overslept = false
	s.totalBookmarks++
	s.events++
	return s, nil
}

func replaceFromStream(_ *rules, s state, in input) (state, []effect) {
	s.listRV, s.streaming = in.rv, true
	return s, []effect{{kind: effectReplace, rv: in.rv, streamed: true, lasted: in.now - s.requestedAt}}
}

// replaced notes that the store has the state as of listRV.
func replaced(_ *rules, s state, in input) (state, []effect) {
	s.newsAt = in.now
	s.ownVersions = s.ownVersions || in.owned
	s.lastRV, s.unavailable, s.synced, s.streaming = s.listRV, false, true, false
	s.broken = 0
	return s, nil
}

// followStream turns the stream whose initial events are in the store into the watch.
func followStream(r *rules, s state, in input) (state, []effect) {
	s, _ = replaced(r, s, in)
	s = s.countFrom(in.now)
	s.synthetic = false
	s.hear(in.now)
	return s, nil
}

func countBroken(_ *rules, s state, _ input) (state, []effect) {
	s.broken++
	return s, nil
}

// fallBack gives the streaming list up; a list follows, by a consistent read if not even that could be streamed. If
// the server said that it does not do streaming lists it is not asked again.
func fallBack(r *rules, s state, in input) (state, []effect) {
	s.lastErr = r.failure(s, in)
	s.refused = s.refused || in.cause == reflector.CauseRefused
	s.unavailable = s.unavailable || RemedyFor(s.phase, in.cause) == StartFresh
	return s, []effect{closing(s, in, s.lastErr), {kind: effectDiscard}, {kind: effectNoteLister, err: s.lastErr}}
}

// fallBackForGood is for a server that takes the request and does not understand it: waiting for its bookmark once
// is enough (kubernetes issues 135895, 139716).
func fallBackForGood(r *rules, s state, in input) (state, []effect) {
	s.refused = true
	return fallBack(r, s, in)
}

// list asks for the first page.
func list(r *rules, s state, in input) (state, []effect) {
	s.rounds++
	s.requestRV = s.startRV()
	s.requestedAt = in.now
	s.limit = r.limit(s)
	s.whole, s.listRV, s.token = false, "", ""
	return r.askPage(s, in, 1)
}

// limit is the page size of a list. A list at a known version can come from the watch cache of the server, as a
// whole; asking for pages would send it to etcd instead.
func (r *rules) limit(s state) int64 {
	switch {
	case r.pageSize != 0:
		return r.pageSize
	case s.requestRV == "" || s.requestRV == "0" || s.pagedZero:
		return reflector.DefaultPageSize
	default:
		return 0
	}
}

func (r *rules) askPage(s state, in input, page int) (state, []effect) {
	s.page = page
	s.lists++
	s.deadlineAt = after(in.now, r.list)
	options := api.ListOptions{Limit: s.limit, Continue: s.token}
	if page == 1 {
		options.ResourceVersion = s.requestRV // on later pages the token says it
	}
	return s, []effect{{kind: effectList, options: options}}
}

func listNextPage(r *rules, s state, in input) (state, []effect) {
	if s.page == 1 {
		s.listRV = in.rv
	}
	s.token = in.token
	s, effects := r.askPage(s, in, s.page+1)
	return s, append([]effect{{kind: effectKeepPage}}, effects...)
}

// listWhole asks again for everything at once, at the version that was asked for first, because the pages cannot
// be completed.
func listWhole(r *rules, s state, in input) (state, []effect) {
	s.whole, s.limit, s.token, s.listRV = true, 0, "", ""
	s, effects := r.askPage(s, in, 1)
	return s, append([]effect{{kind: effectDiscard}}, effects...)
}

func replaceFromList(_ *rules, s state, in input) (state, []effect) {
	if s.page == 1 {
		s.listRV = in.rv
	}
	if s.requestRV == "0" && s.page > 1 && !s.whole {
		s.pagedZero = true
	}
	return s, []effect{
		{kind: effectKeepPage},
		{kind: effectReplace, rv: s.listRV, pages: s.page, lasted: in.now - s.requestedAt}}
}

func openWatch(r *rules, s state, in input) (state, []effect) {
	s.watches++
	s.requestRV = s.lastRV
	s.requestedAt = in.now
	s.asked, s.overslept = false, false
	s.synthetic = s.lastRV == "0"
	s.idleAt = after(in.now, r.muteIdle)
	if s.doubtedAt != never {
		s.idleAt = after(in.now, min(r.muteIdle, answerInDoubt))
	}
	return s, []effect{{kind: effectOpen, brief: r.brief(s, in), options: api.ListOptions{
		ResourceVersion:     s.requestRV,
		AllowWatchBookmarks: true,
	}}}
}

// openWatchAgain asks first whether the server has the position. One that was restored from a backup meanwhile has not
// reached it yet, or not any more, takes the watch all the same, and sends nothing until it has. The question has no meaning
// if the version is that of some object and no server has it, or if it is "0", which all have.
func openWatchAgain(r *rules, s state, in input) (state, []effect) {
	s, effects := openWatch(r, s, in)
	s.asked = !s.ownVersions && s.requestRV != "0"
	effects[0].verify = s.asked
	return s, effects
}

func readWatch(r *rules, s state, in input) (state, []effect) {
	s = s.countFrom(in.now)
	s.opened(r, in)
	s.hear(in.now)
	if s.asked {
		s.newsAt = in.now
	}
	return s, []effect{{kind: effectRead}}
}

var applyEffects = []effect{{kind: effectApply}}

// apply passes a change to the store and moves the position. A watch that began at "0" opens with the current
// objects in no order, as ADDED events; the position must not follow those.
func apply(r *rules, s state, in input) (state, []effect) {
	s.follow(in.now, in.rv, in.added)
	return s, applyEffects
}

// follow is what a change does to the state.
func (s *state) follow(now time.Duration, rv string, added bool) {
	s.synthetic = s.synthetic && added
	if rv != "" && !s.synthetic {
		s.lastRV = rv
	}
	s.events++
	s.changes++
	s.totalEvents++
	s.newsAt = now
	s.hear(now)
}

// passOver lets an event that is no news count as a sign of life, and as nothing else.
func passOver(_ *rules, s state, in input) (state, []effect) {
	s.events++
	s.totalStale++
	s.hear(in.now)
	return s, nil
}

// mark moves the position to that of a bookmark and tells the store. A bookmark that is older than the position
// is only a sign of life: the store is not told, so its version never goes back.
func mark(r *rules, s state, in input) (state, []effect) {
	told := effect{kind: effectMark}
	if in.rv != "" && (in.rv == s.lastRV || !s.oldNews(in.rv)) {
		s.lastRV, told.rv = in.rv, in.rv
	}
	s.synthetic = false
	s.events++
	s.totalBookmarks++
	s.newsAt = in.now
	s.learnRhythm(r, in.now)
	s.hear(in.now)
	return s, []effect{told}
}

// endWatch closes a watch that is going to be opened again at once.
func endWatch(r *rules, s state, in input) (state, []effect) {
	s.healthy = s.healthy || s.provedHealth(in.now)
	if in.kind == InputStreamEnded && s.endsAt != never && in.now >= s.endsAt-inTime {
		s.unpunctual = false
	}
	return s, []effect{closing(s, in, in.err)}
}

// countInternal keeps the books of the internal errors; other causes leave them alone.
func countInternal(_ *rules, s state, in input) (state, []effect) {
	if in.cause == reflector.CauseInternal {
		s.internalSince, s.internalLast = s.internalSeries(in.now), in.now
	}
	return s, nil
}

// forgetPosition is for a position that the server will not accept again, ever (410), or not soon (too large).
func forgetPosition(_ *rules, s state, in input) (state, []effect) {
	lost := s.requestRV
	if s.phase == phaseWatching {
		lost = s.lastRV
	}
	s.unavailable = true
	return s, []effect{closing(s, in, in.err), {kind: effectDiscard}, {kind: effectNoteGone, rv: lost, err: in.err}}
}

// failRound gives the round up: the whole state is fetched again, after a back-off.
func failRound(r *rules, s state, in input) (state, []effect) {
	s, effects := r.backOff(s, in)
	s.keepPosition = false
	draw := effects[len(effects)-1]
	return s, append(effects[:len(effects)-1], effect{kind: effectReport, err: s.lastErr}, draw)
}

// pause keeps the position: the watch is opened again after a back-off.
func pause(r *rules, s state, in input) (state, []effect) {
	s, effects := r.backOff(s, in)
	s.keepPosition = true
	s.lostSight = in.cause == reflector.CauseUnreachable || in.kind == InputIdleElapsed || in.kind == InputOpenFailed && s.asked
	return s, effects
}

func (r *rules) backOff(s state, in input) (state, []effect) {
	s.healthy = s.healthy || s.provedHealth(in.now)
	s.lastErr = r.failure(s, in)
	draw := effect{kind: effectDraw, fresh: s.healthy, atLeast: min(in.askAfter, reflector.LongestRetryAfter), err: s.lastErr}
	if s.healthy {
		s.failures = 0
	}
	s.failures++
	s.healthy = false
	s.streaming = false
	return s, []effect{closing(s, in, s.lastErr), {kind: effectDiscard}, draw}
}

func wait(_ *rules, s state, in input) (state, []effect) {
	s.backOffAt = after(in.now, max(in.delay, 1))
	return s, []effect{{kind: effectWait}}
}

// dropPosition makes the state be fetched anew when the back-off is over: the store is in doubt.
func dropPosition(r *rules, s state, in input) (state, []effect) {
	s.keepPosition, s.lostSight = false, false
	s.lastErr = r.failure(s, in)
	return s, []effect{{kind: effectReport, err: s.lastErr}}
}

// resync lets the store resync and sets the timer to the next multiple of the period, so that neither a slow store
// nor a relist shifts the beat (client-go restarts the timer with every relist).
func resync(r *rules, s state, in input) (state, []effect) {
	s, _ = skipResync(r, s, in)
	return s, []effect{{kind: effectResync}}
}

func skipResync(r *rules, s state, in input) (state, []effect) {
	if r.resync <= 0 || in.now < s.resyncAt {
		return s, nil
	}
	s.resyncAt += r.resync * ((in.now-s.resyncAt)/r.resync + 1)
	return s, nil
}

// countFrom begins to count what a stream delivers.
func (s state) countFrom(now time.Duration) state {
	s.openedAt, s.events, s.changes = now, 0, 0
	s.bookmarkAt = never
	return s
}

// unmoved tells whether the watch has brought nothing, or only what had been there before.
func (s state) unmoved() bool { return s.changes == 0 || s.lastRV == s.requestRV }

// provedHealth tells whether the watch under way shows that server and connection are well.
func (s state) provedHealth(now time.Duration) bool {
	return s.phase == phaseWatching && (s.events > 0 || now-s.openedAt >= reflector.HealthyWatch)
}

// internalSeries is the time at which the current series of internal errors began, if one happens now.
func (s state) internalSeries(now time.Duration) time.Duration {
	if s.internalLast == never || now-s.internalLast >= internalPause {
		return now
	}
	return s.internalSince
}

// closing ends the stream of the phase, or the attempt to open one.
func closing(s state, in input, err error) effect {
	return effect{kind: effectClose, rv: s.lastRV, err: err, events: s.events, lasted: in.now - s.openedAt}
}

// after is the time of a timer; a duration that is not positive never passes.
func after(now, d time.Duration) time.Duration {
	if d <= 0 || d > never-now {
		return never
	}
	return now + d
}
