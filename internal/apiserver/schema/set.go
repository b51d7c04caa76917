package schema

import "orrery/restclient/api"

// Set is a collection of types. It does not change. The zero value is empty.
type Set struct {
	byName map[string]*Type
	byKind map[api.GroupVersionKind]*Type
}

// Builtin returns the types of Kubernetes that the server serves. They are read once; every call returns the same set.
func Builtin() *Set { return &Set{} }

// Type returns the type of the documents of a kind, false if the set does not have it.
func (s *Set) Type(gvk api.GroupVersionKind) (*Type, bool) {
	t, ok := s.byKind[gvk]
	return t, ok
}
