package faults

import (
	"math/rand/v2"
	"slices"
	"time"

	"orrery/restclient/api"
)

// scope selects requests. An empty list matches everything.
type scope struct {
	verbs, groups, resources, namespaces, names, users []string
}

func (s scope) empty() bool {
	return len(s.verbs)+len(s.groups)+len(s.resources)+len(s.namespaces)+len(s.names)+len(s.users) == 0
}

// matches follows RBAC: a resource does not include its subresources, and a Namespace object is in
// its own namespace.
func (s scope) matches(r Request) bool {
	return among(s.verbs, r.Verb) && among(s.groups, r.Group) && among(s.resources, r.path()) &&
		among(s.namespaces, r.namespace()) && among(s.names, r.Name) && among(s.users, r.User)
}

// includes is matches for a question in which "*" stands for any verb, group or resource.
func (s scope) includes(r Request) bool {
	for _, wildcard := range []struct {
		asked  string
		wanted *[]string
	}{{r.Verb, &s.verbs}, {r.Group, &s.groups}, {r.Resource, &s.resources}} {
		if wildcard.asked == "*" {
			*wildcard.wanted = nil
		}
	}
	return s.matches(r)
}

func among(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// Request is what the faults know of a request to the server.
type Request struct {
	// Verb is the RBAC verb: get, list, watch, create, update, patch, delete, deletecollection. For
	// other paths it is the HTTP method in lower case.
	Verb string
	// Resource is empty for paths that are not resources.
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	Path                                  string
	User                                  string
	// Annotations are those of the object that a write changes or removes.
	Annotations map[string]string
	// Collection reports that a delete is part of a deletecollection: a policy's refusal names no
	// object.
	Collection bool
}

// path returns the resource with its subresource, as in RBAC.
func (r Request) path() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}

// namespace returns the namespace of the object. A Namespace object is in its own.
func (r Request) namespace() string {
	if r.Namespace == "" && r.Group == "" && r.Resource == "namespaces" {
		return r.Name
	}
	return r.Namespace
}

// fault is an active fault. It is immutable except for dice, hits and timer.
type fault struct {
	id, kind, text string
	action         bool // it happens once or periodically
	scope          scope
	share          float64       // 0 to 1
	count          int           // how often it may strike; -1 means no limit
	until          time.Time     // zero: no end
	every          time.Duration // interval of a repeated action; 0: once
	wait           time.Duration // delay: by; too-many-requests and unavailable: retry-after
	versions       uint64
	events         int // repeat-events: back; interrupt-streaming-lists: after
	broken         api.GroupVersion
	options        Options
	while, unless  object        // zero: no condition
	unlessReady    object        // a Service; zero: no condition
	removed        chan struct{} // closed when the fault is removed, not when it expires

	// guarded by Set.mu
	dice  *rand.Rand
	hits  int
	timer *time.Timer
}

// object names an object of the server.
type object struct{ resource, namespace, name string }

func (o object) isIn(objects Objects) bool {
	return objects.Stored(o.resource, o.namespace, o.name) != nil
}

// Objects is what the conditions of faults look at: the server's objects.
type Objects interface {
	// Stored returns a copy of an object, or nil. resource is "plural" or "plural.group". An empty
	// namespace means any.
	Stored(resource, namespace, name string) *api.Unstructured
	// Ready reports whether a Service has a ready endpoint.
	Ready(namespace, service string) bool
}

// appliesLocked reports whether the conditions of the fault hold.
func (f *fault) appliesLocked(objects Objects) bool {
	if objects == nil {
		return true
	}
	return (f.while == object{} || f.while.isIn(objects)) &&
		(f.unless == object{} || !f.unless.isIn(objects)) &&
		(f.unlessReady == object{} || !objects.Ready(f.unlessReady.namespace, f.unlessReady.name))
}

func (f *fault) overLocked(now time.Time) bool {
	return f.count >= 0 && f.hits >= f.count || !f.until.IsZero() && !now.Before(f.until)
}

// strikesLocked decides whether the fault affects the request, and counts it. It draws a random
// number for every matching request, so that one decision does not depend on the others.
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
