package faults

import (
	"context"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// Before is called for every request, after Authorize. It waits where a fault says so, but no longer than ctx and not
// after the fault has been removed, and returns the refusal to send, or nil. Paths of health and of the debug endpoint are never hit: the one is how one sees
// that the server lives, the other is how a fault is taken away again.
func (s *Set) Before(ctx context.Context, r Request) *api.StatusError {
	if exempt(r.Path) {
		return nil
	}
	delays, refused := s.before(r)
	for _, f := range delays {
		f.pause(ctx)
	}
	return refused
}

// before decides at once, so that a request that waits is not hit by what begins meanwhile.
func (s *Set) before(r Request) (delays []*fault, refused *api.StatusError) {
	s.each(func(f *fault) {
		switch f.kind {
		case delay:
			if f.strikesLocked(r) {
				delays = append(delays, f)
			}
		case tooManyRequests, internalError, unavailable:
			if refused == nil && f.strikesLocked(r) {
				refused = f.refusal()
			}
		case brokenGroup:
			if refused == nil && asksFor(r, f.broken) {
				f.hits++
				refused = refuseUnavailable(0)
			}
		}
	})
	return delays, refused
}

// pause waits as long as the fault says.
func (f *fault) pause(ctx context.Context) {
	timer := time.NewTimer(f.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.removed:
	case <-ctx.Done():
	}
}

func (f *fault) refusal() *api.StatusError {
	switch f.kind {
	case tooManyRequests:
		return refuseBusy(f)
	case unavailable:
		return refuseUnavailable(f.wait)
	default:
		return refuseInternal(f.message)
	}
}

// asksFor tells whether a request is for the group, be it for a resource of it or for the list of its resources.
func asksFor(r Request, gv api.GroupVersion) bool {
	prefix := "/apis/" + gv.Group + "/" + gv.Version
	return r.Resource != "" && r.Group == gv.Group && r.Version == gv.Version ||
		r.Path == prefix || strings.HasPrefix(r.Path, prefix+"/")
}

func exempt(path string) bool {
	return slices.ContainsFunc([]string{"/healthz", "/livez", "/readyz", "/debug"}, func(prefix string) bool {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	})
}

// Authorize returns the 403 that RBAC would give for the request, or nil.
func (s *Set) Authorize(r Request) *api.StatusError {
	if exempt(r.Path) || !s.strike(forbid, r) {
		return nil
	}
	return refuseForbidden(r)
}

// Admit returns the refusal of an admission webhook for a write, or nil. The error is an *api.StatusError. Reads are
// not what webhooks are asked about, and writes to the configuration of webhooks are let through, as the real server
// does so that a broken one can be removed.
func (s *Set) Admit(r Request) error {
	if !isWrite(r.Verb) || r.Group == "admissionregistration.k8s.io" {
		return nil
	}
	var refused *api.StatusError
	s.each(func(f *fault) {
		switch {
		case refused != nil || f.kind != webhookDenies && f.kind != webhookUnreachable || !f.strikesLocked(r):
		case f.kind == webhookDenies:
			refused = refuseDenied(f)
		default:
			refused = refuseUnreachable(f)
		}
	})
	if refused == nil {
		return nil
	}
	return refused
}

func isWrite(verb string) bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, verb)
}

// Conflict tells whether this update or patch is to fail with 409, as if somebody else had been faster.
func (s *Set) Conflict(r Request) bool {
	return (r.Verb == "update" || r.Verb == "patch") && s.strike(conflict, r)
}

// Lag returns by how many versions reads are behind.
func (s *Set) Lag() uint64 {
	var lag uint64
	s.each(func(f *fault) { lag = max(lag, f.versions) })
	return lag
}

// Silent tells whether streams (watches) are half-open at the moment: they neither send nor end, and whatever is
// written to them is swallowed.
func (s *Set) Silent() bool {
	silent := false
	s.each(func(f *fault) { silent = silent || f.kind == silence })
	return silent
}

// NodeLost tells whether the kubelet of the node does not answer, so that its pods do not end.
func (s *Set) NodeLost(node string) bool {
	lost := false
	s.each(func(f *fault) { lost = lost || f.kind == nodeLost && among(f.nodes, node) })
	return lost
}

// Unavailable returns the groups that are announced in discovery by an APIService whose server does not answer.
// Requests to them are refused by Before.
func (s *Set) Unavailable() []api.GroupVersion {
	var groups []api.GroupVersion
	s.each(func(f *fault) {
		if f.kind == brokenGroup && !slices.Contains(groups, f.broken) {
			groups = append(groups, f.broken)
		}
	})
	return groups
}

// strike tells whether a fault of the kind hits the request.
func (s *Set) strike(kind string, r Request) bool {
	struck := false
	s.each(func(f *fault) { struck = struck || f.kind == kind && f.strikesLocked(r) })
	return struck
}

// each calls do with every fault that is on, oldest first, while it holds the lock.
func (s *Set) each(do func(*fault)) {
	if !s.some.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidyLocked(time.Now())
	for _, f := range s.faults {
		do(f)
	}
}

// Holds tells whether a watch is to say nothing at the moment, and to catch up later.
func (s *Set) Holds(r Request) bool {
	held := false
	s.each(func(f *fault) { held = held || f.kind == holdEvents && f.scope.matches(r) })
	return held
}

// Withholds tells whether a bookmark is not to be sent. initial is the one that ends the initial events.
func (s *Set) Withholds(r Request, initial bool) bool {
	withheld := false
	s.each(func(f *fault) {
		if f.kind != withholdBookmarks || !f.scope.matches(r) || f.which == "regular" && initial || f.which == "initial" && !initial {
			return
		}
		f.hits++
		withheld = true
	})
	return withheld
}

// Interrupts returns after how many initial events the streaming list that begins is to break; negative: not at all.
func (s *Set) Interrupts(r Request) int {
	after := -1
	s.each(func(f *fault) {
		if after < 0 && f.kind == interruptStreams && f.strikesLocked(r) {
			after = f.events
		}
	})
	return after
}

// Repeats is asked after an event was sent to a watch. It returns how many of the last events are to be sent again, and of which
// older one, counted from the last, is to be sent once more by itself; 0 is none.
func (s *Set) Repeats(r Request) (back, stale int) {
	s.each(func(f *fault) {
		switch {
		case f.kind == repeatEvents && f.strikesLocked(r):
			back = max(back, f.events)
		case f.kind == staleEvents && f.strikesLocked(r):
			stale = max(stale, f.events)
		}
	})
	return back, stale
}

// ExpiresContinue tells whether the token that a list goes on with counts as too old.
func (s *Set) ExpiresContinue(r Request) bool { return s.strike(expireContinue, r) }

// TroublesEvents tells whether there is any fault for which a watch has to keep what it has sent.
func (s *Set) TroublesEvents() bool {
	troubled := false
	s.each(func(f *fault) { troubled = troubled || f.kind == repeatEvents || f.kind == staleEvents })
	return troubled
}
