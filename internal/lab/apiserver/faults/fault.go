package faults

import (
	"math/rand/v2"
	"time"

	"orrery/restclient/api"
)

// fault is a fault that is on. All of it but dice, hits and timer is immutable.
type fault struct {
	id, kind, text string
	scope          scope
	share          float64       // 0 to 1
	count          int           // how often it may strike; -1 for ever
	until          time.Time     // zero: no end
	every          time.Duration // of a repeated action; 0: once
	wait           time.Duration // delay: by; too-many-requests and unavailable: retry-after
	versions       uint64
	events         int    // repeat-events and stale-events: back; interrupt-streaming-lists: after
	which          string // withhold-bookmarks
	message        string
	webhook        string
	nodes          []string
	broken         api.GroupVersion
	removed        chan struct{} // closed when somebody has taken the fault away; not when it is over by itself

	// guarded by Set.mu
	dice  *rand.Rand
	hits  int
	timer *time.Timer
}

func (f *fault) overLocked(now time.Time) bool {
	return f.count >= 0 && f.hits >= f.count || !f.until.IsZero() && !now.Before(f.until)
}

// strikesLocked decides whether the fault hits the request, and counts it if so. The dice are thrown for every request that
// the fault is about, so that what happens to one does not depend on the others.
func (f *fault) strikesLocked(r Request) bool {
	if !f.scope.matches(r) || f.share < 1 && f.dice.Float64() >= f.share {
		return false
	}
	f.hits++
	return true
}

func (f *fault) left() int {
	if f.count < 0 {
		return -1
	}
	return f.count - f.hits
}
