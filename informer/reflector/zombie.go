package reflector

import "time"

// A connection can die without an error: a firewall has forgotten it, the other machine has lost its power. It looks like one on
// which nothing happens. Where the connection is tested the test tells (input.dead). Elsewhere there is only silence, and a
// quiet watch is silent, too: kube-apiserver sends a bookmark no more often than once a minute. So a silent watch is replaced,
// which is right in both cases, and what happens to the new one shows what was the matter with the old one. This file is about
// nothing but the count: what is done does not depend on it.

// answerInDoubt is how long a server may take to open the watch that replaces a silent one.
const answerInDoubt = 10 * time.Second

// zombie tells whether an input, in this state, shows that a connection was dead, or the one before it.
func (s state) zombie(in input) (note effect, found bool) {
	silence, by := time.Duration(0), ZombieByIdle
	switch {
	case in.kind == InputStreamFailed && in.dead:
		silence, by = in.now-s.heardAt, ZombieByPing
	case s.phase == PhaseOpeningWatch && in.kind == InputIdleElapsed: // a question has no answer
		silence = in.now - s.silentSince()
	case s.phase == PhaseOpeningWatch && in.kind == InputOpenFailed && in.cause == CauseUnreachable && s.doubtedAt != never:
		silence = in.now - s.doubtedAt
	case s.phase == PhaseWatching && in.kind == InputIdleElapsed && s.conclusive(in.now-s.heardAt):
		silence = in.now - s.heardAt
	case s.phase == PhaseWatching && in.kind == InputEvent && s.withheld(in):
		silence = s.openedAt - s.doubtedAt
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

// conclusive tells whether a silence is too long for this server, going by how often it sent bookmarks before.
func (s state) conclusive(silence time.Duration) bool {
	return s.bookmarkGap > 0 && silence >= 2*s.bookmarkGap
}

// withheld tells whether a change comes at once on the watch that replaces a silent one: then it had happened before, and
// the old one did not deliver it.
func (s state) withheld(in input) bool {
	return s.doubtedAt != never && in.now-s.openedAt < veryShortWatch && !s.oldNews(in.rv)
}
