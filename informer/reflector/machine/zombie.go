package machine

import (
	"time"

	"orrery/informer/reflector"
)

// A connection can die without an error: a firewall has forgotten it, the other machine has lost its power. It looks like one on
// which nothing happens. Where the connection is tested the test tells (input.dead). Elsewhere there is only silence, and
// silence says nothing by itself, since a quiet watch is silent, too. It says something when the server had promised not to be:
//
//   - a watch ends when its time limit is over (API documentation: timeoutSeconds);
//   - a server that sends bookmarks, as kube-apiserver does once a minute, goes on to do so.
//
// So a watch whose connection is not tested is asked for with a limit that is shorter than the longest silence. A quiet one ends
// in good order then, with a bookmark just before, and one that does not is dead. What happens to come on the watch that follows
// proves nothing: it may have happened just now.

const (
	// answerInDoubt is how long a server may take to open the watch that replaces a silent one.
	answerInDoubt = 10 * time.Second
	// usualGap is the time between two bookmarks of kube-apiserver. What is much shorter is no rhythm: one more comes just
	// before the end of a watch.
	usualGap = time.Minute
	// inTime is how much earlier than asked for a watch may end to have been ended by its limit. The server's time begins a
	// little before ours.
	inTime = 2 * time.Second
	// lateTimer is how late our timer rings if the process was stopped for a while, or the machine is very busy.
	lateTimer = 2 * time.Second
	// afterSleep is how long it may take then to read what has come meanwhile.
	afterSleep = 5 * time.Second
)

// opened notes how a stream is carried and when it has to end, and how long its silence is believed.
func (s *state) opened(r *rules, in input) {
	s.lives, s.mute = in.lives, !in.lives
	s.endsAt = after(in.now, in.limit)
	s.doubtedAt = never
	s.setPatience(r)
}

// brief tells whether a watch is asked for with a limit that is shorter than the longest silence: because its connection is not
// going to be tested, as far as is known. Servers count in whole seconds, and a watch of
// less than one would be taken for a fault.
func (r *rules) brief(s state, in input) bool {
	return (s.mute || in.mute) && r.muteIdle >= 3*time.Second
}

// setPatience decides how long the silence of this watch is believed. Where the connection is tested silence means that the
// server sends no bookmarks, or that it has gone and a proxy answers in its place. If it is known to send bookmarks one and
// a half times their distance is enough to know that one is missing.
func (s *state) setPatience(r *rules) {
	switch {
	case !s.lives:
		s.patience = r.muteIdle
	case !s.rhythmic() || r.idle <= 0:
		s.patience = r.idle
	default:
		s.patience = min(r.idle, overdue(s.bookmarkGap))
	}
}

// overdue is the silence that is too long for a server that sends a bookmark after every gap.
func overdue(gap time.Duration) time.Duration {
	gap = max(gap, usualGap)
	return gap + gap/2
}

// hear notes a sign of life on a watch: the silence counts from now.
func (s *state) hear(now time.Duration) {
	s.heardAt = now
	s.overslept = false
	s.idleAt = after(now, s.patience)
}

// learnRhythm notes that a bookmark has come.
func (s *state) learnRhythm(r *rules, now time.Duration) {
	if s.bookmarkAt != never && now-s.bookmarkAt >= usualGap/2 {
		s.bookmarkGap = max(s.bookmarkGap, now-s.bookmarkAt)
	}
	s.bookmarkAt = now
	s.setPatience(r)
}

// rhythmic tells whether bookmarks are to be expected. kube-apiserver sends none that is not newer than the beginning of the
// watch, so on a quiet server the first may be long in coming; from then on there is one a minute.
func (s *state) rhythmic() bool { return s.bookmarkAt != never && s.bookmarkGap > 0 }

// allowForSleep gives a process that was stopped the time to read what has come.
func allowForSleep(_ *rules, s state, in input) (state, []effect) {
	s.overslept = true
	s.idleAt = after(in.now, afterSleep)
	return s, nil
}

// doubt gives up a watch for its silence. Unless that is proof enough, it has to be seen whether it was dead. What the
// server was believed to do has to be seen again in any case: it may have changed.
func doubt(r *rules, s state, in input) (state, []effect) {
	silence := in.now - s.heardAt
	conclusive := s.conclusive(r, in.now)
	s, effects := endWatch(r, s, input{now: in.now, err: reflector.ErrIdle})
	if !conclusive {
		s.doubtedAt = s.heardAt
	}
	s.unpunctual = s.unpunctual || in.now >= s.endsAt
	s.bookmarkGap = 0
	return s, append([]effect{{kind: effectNoteIdle, lasted: silence}}, effects...)
}

func noteIdle(_ *rules, s state, in input) (state, []effect) {
	return s, []effect{{kind: effectNoteIdle, lasted: in.now - s.requestedAt}}
}

// zombie tells whether an input, in this state, shows that a connection was dead, or the one before it. It is about nothing
// but the count: what is done does not depend on it.
func (s state) zombie(r *rules, in input) (note effect, found bool) {
	silence, by := time.Duration(0), reflector.ZombieByIdle
	switch {
	case in.kind == InputStreamFailed && in.dead:
		silence, by = in.now-s.heardAt, reflector.ZombieByPing
	case in.kind == InputIdleElapsed && rangLate.holds(r, s, in):
		return effect{}, false
	case s.phase == phaseOpeningWatch && in.kind == InputIdleElapsed: // a question has no answer
		silence = in.now - s.silentSince()
	case s.phase == phaseOpeningWatch && in.kind == InputOpenFailed && in.cause == reflector.CauseUnreachable && s.doubtedAt != never:
		silence = in.now - s.doubtedAt
	case s.phase == phaseWatching && in.kind == InputIdleElapsed && s.conclusive(r, in.now):
		silence = in.now - s.heardAt
	default:
		return effect{}, false
	}
	return effect{kind: effectNoteZombie, lasted: silence, by: by}, true
}

// silentSince is for how long nothing has been heard while a watch is opened.
func (s state) silentSince() time.Duration {
	if s.doubtedAt != never {
		return s.doubtedAt
	}
	return s.requestedAt
}

// conclusive tells whether a silence is too long for this server: a watch has not ended when it had to, or bookmarks are
// missing. A server that has gone on with a watch beyond its limit does not mind limits, and silence there says nothing.
func (s state) conclusive(r *rules, now time.Duration) bool {
	grace := r.muteIdle / 10
	unended := s.endsAt != never && now >= s.endsAt+grace && s.heardAt <= s.endsAt+grace && !s.unpunctual
	return unended || s.rhythmic() && now-s.heardAt >= overdue(s.bookmarkGap)
}
