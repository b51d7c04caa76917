package faults

import (
	"slices"
	"strings"
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
