package machine

import "time"

// A connection can die without an error: a firewall has dropped it, or the other machine has lost
// power. It looks like an idle one. If the client sends keepalives, those fail. Otherwise the
// reflector gives up a watch that is silent for too long:
//
//   - without keepalive the server is asked to end each watch before the idle timeout. A quiet
//     watch on a healthy connection ends normally; only a dead one stays silent until the timeout;
//   - with keepalive the timeout is long, and shorter once the server's bookmarks have shown their
//     interval.

const (
	// answerAfterSilence is how long a server may take to open the watch that replaces a silent
	// one.
	answerAfterSilence = 10 * time.Second
	// usualBookmarkInterval is the interval between bookmarks of kube-apiserver. It sends an
	// additional one just before the end of a watch, so a much shorter interval means nothing.
	usualBookmarkInterval = time.Minute
	// lateTimer: an idle timer that fires this late shows that the process was suspended, or that
	// the machine is very busy.
	lateTimer = 2 * time.Second
	// timeToRead is how long a suspended process may take to read the buffered events.
	timeToRead = 5 * time.Second
)

// opened records whether the stream's connection has a keepalive, and sets its idle timeout.
func (s *state) opened(r *rules, in *input) {
	s.stream.keepalive, s.server.noKeepalive = in.keepalive, !in.keepalive
	s.setIdleTimeout(r)
}

// short reports whether to request a watch shorter than the idle timeout, because its connection
// has no keepalive. Below three seconds it returns false: servers count whole seconds.
func (r *rules) short(s *state, in *input) bool {
	return (s.server.noKeepalive || in.noKeepalive) && r.silentIdle >= 3*time.Second
}

// setIdleTimeout sets the longest silence of this watch. With keepalive, silence means that the
// server sends no bookmarks, or that it is gone and a proxy answers for it. If it sent bookmarks
// before, one and a half intervals of silence show that one is missing.
func (s *state) setIdleTimeout(r *rules) {
	switch {
	case !s.stream.keepalive:
		s.watch.idleTimeout = r.silentIdle
	case s.watch.bookmarkAt == never || s.server.bookmarkInterval == 0 || r.idle <= 0:
		s.watch.idleTimeout = r.idle
	default:
		interval := max(s.server.bookmarkInterval, usualBookmarkInterval)
		s.watch.idleTimeout = min(r.idle, interval+interval/2)
	}
}

// hear records that something arrived on a watch: the idle timeout counts from now.
func (s *state) hear(now time.Duration) {
	s.stream.heardAt = now
	s.idleAfter(now, s.watch.idleTimeout)
}

// idleAfter restarts the idle timer. Its timer has not been late yet.
func (s *state) idleAfter(now, timeout time.Duration) {
	s.stream.timerLate = false
	s.timers.idle = after(now, timeout)
}

// learnBookmarkInterval records a bookmark. kube-apiserver sends only bookmarks newer than the
// beginning of the watch, so on a quiet server the first may take long; from then on there is one a
// minute.
func (s *state) learnBookmarkInterval(r *rules, now time.Duration) {
	if s.watch.bookmarkAt != never && now-s.watch.bookmarkAt >= usualBookmarkInterval/2 {
		s.server.bookmarkInterval = max(s.server.bookmarkInterval, now-s.watch.bookmarkAt)
	}
	s.watch.bookmarkAt = now
	s.setIdleTimeout(r)
}

// readFirst gives a process that was suspended the time to read the buffered events.
func readFirst(_ *rules, s *state, in *input, _ *effects) {
	s.stream.timerLate = true
	s.timers.idle = after(in.now, timeToRead)
}
