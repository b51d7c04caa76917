package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// Before is called for every request, after Authorize. It delays the request as faults demand, at
// most until ctx ends or the fault is removed, and returns the error to answer with, or nil. Health
// and debug paths are exempt, so that the server can be observed and faults removed.
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

// before decides immediately, so that a delayed request is not affected by faults that start
// meanwhile.
func (s *Set) before(r Request) (delays []*fault, refused *api.StatusError) {
	s.each(func(f *fault) {
		switch f.kind {
		case delay:
			if f.strikesLocked(r) {
				delays = append(delays, f)
			}
		case tooManyRequests, internalError, unavailable, notAllowed:
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

// pause waits for the delay of the fault.
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
		return resources.Failure(http.StatusTooManyRequests, api.ReasonTooManyRequests,
			"Too many requests, please try again later.", retryAfter(f.wait))
	case unavailable:
		return refuseUnavailable(f.wait)
	case notAllowed:
		return resources.MethodNotAllowed()
	default:
		return refuseInternal(f.options.Text("message", "a fault was requested"))
	}
}

// asksFor reports whether a request is for a resource of the group version or for its list of
// resources.
func asksFor(r Request, gv api.GroupVersion) bool {
	prefix := "/" + resources.PathOf(gv)
	return r.Resource != "" && r.Group == gv.Group && r.Version == gv.Version ||
		r.Path == prefix || strings.HasPrefix(r.Path, prefix+"/")
}

func exempt(path string) bool {
	return slices.ContainsFunc([]string{"/healthz", "/livez", "/readyz", "/debug"}, func(prefix string) bool {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	})
}

// Authorize returns the 403 of RBAC for the request, or nil.
func (s *Set) Authorize(r Request) *api.StatusError {
	if exempt(r.Path) || s.struck(forbid, r) == nil {
		return nil
	}
	return Forbidden(r)
}

// Forbids reports whether Authorize may refuse a request, for reviews of rights. A "*" in r
// stands for any value. It counts nothing.
func (s *Set) Forbids(r Request) bool {
	return !exempt(r.Path) && s.any(func(f *fault) bool { return f.kind == forbid && f.scope.includes(r) })
}

// ForbidsSomething reports whether Authorize may refuse anything to a user.
func (s *Set) ForbidsSomething(user string) bool {
	return s.any(func(f *fault) bool { return f.kind == forbid && among(f.scope.users, user) })
}

// Admit returns the refusal of an admission webhook or policy for a write, or nil. The error is an
// *api.StatusError. Reads pass, and so do writes to webhook configurations, as in kube-apiserver,
// so that a broken webhook can be removed.
func (s *Set) Admit(r Request) error {
	if !isWrite(r.Verb) || r.Group == "admissionregistration.k8s.io" {
		return nil
	}
	var refused *api.StatusError
	s.each(func(f *fault) {
		if refused != nil || !slices.Contains([]string{webhookDenies, webhookUnreachable, policyDenies}, f.kind) {
			return
		}
		failure, concerned := f.configuredLocked(r, s.objects)
		_, annotated := r.Annotations[f.options.Text("unless-annotated", "")]
		switch {
		case !concerned || annotated || !f.strikesLocked(r):
		case f.kind == webhookDenies:
			refused = refuseDenied(f)
		case f.kind == policyDenies:
			refused = refusePolicy(f, r)
		default:
			refused = refuseUnreachable(f, failure)
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

// Conflict reports whether an update or patch fails with 409.
func (s *Set) Conflict(r Request) bool {
	return (r.Verb == "update" || r.Verb == "patch") && s.struck(conflict, r) != nil
}

// Lag returns by how many versions reads are behind.
func (s *Set) Lag() uint64 {
	var lag uint64
	s.each(func(f *fault) { lag = max(lag, f.versions) })
	return lag
}

// NodeLost reports whether the kubelet of the node is unreachable.
func (s *Set) NodeLost(node string) bool {
	return s.any(func(f *fault) bool { return f.kind == nodeLost && among(f.scope.names, node) })
}

// PodStays reports whether the kubelet cannot tear a pod down.
func (s *Set) PodStays(namespace, name string) bool {
	return s.struck(podStays, Request{Version: "v1", Resource: "pods", Namespace: namespace, Name: name}) != nil
}

// Unconverted returns the error of a conversion webhook for a read of custom objects of a kind, or
// nil.
func (s *Set) Unconverted(r Request, kind string) *api.StatusError {
	if f := s.struck(conversionFails, r); f != nil {
		return refuseUnconverted(f, r, kind)
	}
	return nil
}

// Unreadable returns the error of a read of the object in r, or nil: the object cannot be
// decrypted. key is its key in etcd.
func (s *Set) Unreadable(r Request, key string) *api.StatusError {
	if f := s.struck(Unreadable, r); f != nil {
		return refuseUnreadable(f, r, key)
	}
	return nil
}

// Unavailable returns the groups that discovery announces and whose server does not answer. Before
// refuses requests to them.
func (s *Set) Unavailable() []api.GroupVersion { return s.disturbed(brokenGroup) }

// Outdated returns the groups whose server answers although aggregated discovery lists them as
// stale.
func (s *Set) Outdated() []api.GroupVersion { return s.disturbed(staleDiscovery) }

// disturbed returns the groups that faults of the kind disturb.
func (s *Set) disturbed(kind string) []api.GroupVersion {
	var groups []api.GroupVersion
	s.each(func(f *fault) {
		if f.kind == kind && !slices.Contains(groups, f.broken) {
			groups = append(groups, f.broken)
		}
	})
	return groups
}

// Active reports whether there is a fault of the kind.
func (s *Set) Active(kind string) bool {
	return s.any(func(f *fault) bool { return f.kind == kind })
}

// any reports whether holds returns true for an active fault.
func (s *Set) any(holds func(*fault) bool) bool {
	found := false
	s.each(func(f *fault) { found = found || holds(f) })
	return found
}

// struck returns the first fault of the kind that affects the request, or nil.
func (s *Set) struck(kind string, r Request) *fault {
	var struck *fault
	s.each(func(f *fault) {
		if struck == nil && f.kind == kind && f.strikesLocked(r) {
			struck = f
		}
	})
	return struck
}

// each calls do for every active fault whose conditions hold, oldest first, with mu held.
func (s *Set) each(do func(*fault)) {
	if !s.some.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tidyLocked(time.Now())
	for _, f := range s.faults {
		if f.appliesLocked(s.objects) {
			do(f)
		}
	}
}

// Holds reports whether a watch holds its events back for now.
func (s *Set) Holds(r Request) bool {
	return s.any(func(f *fault) bool { return f.kind == holdEvents && f.scope.matches(r) })
}

// Withholds reports whether a bookmark is withheld. initial says that it ends the initial events.
func (s *Set) Withholds(r Request, initial bool) bool {
	withheld := false
	s.each(func(f *fault) {
		which := f.options.Text("which", "all")
		if f.kind != withholdBookmarks || !f.scope.matches(r) ||
			which == "regular" && initial || which == "initial" && !initial {
			return
		}
		f.hits++
		withheld = true
	})
	return withheld
}

// Interrupts returns after how many initial events a streaming list breaks; negative means never.
func (s *Set) Interrupts(r Request) int {
	if f := s.struck(interruptStreams, r); f != nil {
		return f.events
	}
	return -1
}

// Repeats is called after an event was sent to a watch. It returns how many of the last events to
// send again.
func (s *Set) Repeats(r Request) int {
	back := 0
	s.each(func(f *fault) {
		if f.kind == RepeatEvents && f.strikesLocked(r) {
			back = max(back, f.events)
		}
	})
	return back
}

// ExpiresContinue reports whether a continue token is treated as expired.
func (s *Set) ExpiresContinue(r Request) bool { return s.struck(expireContinue, r) != nil }
