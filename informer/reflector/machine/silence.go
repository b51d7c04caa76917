package machine

import "time"

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
