package faults

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// scope says which requests a fault is about. An empty list means any.
type scope struct {
	verbs, groups, resources, namespaces, names, users []string
}

func (s scope) empty() bool {
	return len(s.verbs)+len(s.groups)+len(s.resources)+len(s.namespaces)+len(s.names)+len(s.users) == 0
}

// matches follows RBAC: a resource does not stand for its subresources, a namespace has itself for its namespace.
func (s scope) matches(r Request) bool {
	verb := r.Verb
	if r.Watch {
		verb = "watch"
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	namespace := r.Namespace
	if namespace == "" && r.Group == "" && r.Resource == "namespaces" {
		namespace = r.Name
	}
	return among(s.verbs, verb) && among(s.groups, r.Group) && among(s.resources, resource) &&
		among(s.namespaces, namespace) && among(s.names, r.Name) && among(s.users, r.User)
}

func among(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// alternatives takes a value such as list|watch apart.
func alternatives(value string) []string {
	parts := strings.Split(value, "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// Request is what a fault may look at to decide whether a request is hit.
type Request struct {
	// Verb is the verb of the API as RBAC calls it: get, list, watch, create, update, patch, delete, deletecollection.
	// For paths that are no resources it is the HTTP method in lower case.
	Verb string
	// Group, Version, Resource and Subresource say what is asked for; Resource is empty for paths that are no resources.
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	Path                                  string
	User                                  string
	Watch                                 bool
}

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
