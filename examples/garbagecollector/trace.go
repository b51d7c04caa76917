package garbagecollector

import (
	"orrery/internal/hooks"
	"orrery/restclient/api"
)

// Trace is a set of hooks, called on the goroutines of workers and informers, several at a time. Each may be nil.
type Trace struct {
	// Deleted: an object was deleted, because its owners are gone or wait for that.
	Deleted func(object api.ObjectReference, policy api.DeletePropagation)
	// Released: an object was made to forget some of its owners.
	Released func(object api.ObjectReference)
	// Finished: a finalizer of the garbage collector was removed.
	Finished func(object api.ObjectReference, finalizer string)
	// InvalidNamespace: an object names an owner that is in another namespace, or in one at all if the object is in none. An Event
	// with the reason OwnerRefInvalidNamespace is due.
	InvalidNamespace func(object api.ObjectReference, owner api.OwnerReference)
	// Watching and Unwatched: a type has appeared, has vanished.
	Watching, Unwatched func(resource api.GroupVersionResource)
	// Refused: the server does not let the controller see a type. It goes on with the others. It is told once for each type.
	Refused func(resource api.GroupVersionResource, err error)
	// DiscoveryFailed: the server does not say which types it has, or not of all groups. What was known of them is kept.
	DiscoveryFailed func(err error)
}

// ignore has a hook in every field, so that hooks are called without asking whether there is one.
var ignore = &Trace{
	Deleted:          func(api.ObjectReference, api.DeletePropagation) {},
	Released:         func(api.ObjectReference) {},
	Finished:         func(api.ObjectReference, string) {},
	InvalidNamespace: func(api.ObjectReference, api.OwnerReference) {},
	Watching:         func(api.GroupVersionResource) {},
	Unwatched:        func(api.GroupVersionResource) {},
	Refused:          func(api.GroupVersionResource, error) {},
	DiscoveryFailed:  func(error) {},
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments. Arguments may be nil.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Traces(func(t, u *Trace) *Trace {
		return &Trace{
			Deleted:          hooks.Join2(t.Deleted, u.Deleted),
			Released:         hooks.Join(t.Released, u.Released),
			Finished:         hooks.Join2(t.Finished, u.Finished),
			InvalidNamespace: hooks.Join2(t.InvalidNamespace, u.InvalidNamespace),
			Watching:         hooks.Join(t.Watching, u.Watching),
			Unwatched:        hooks.Join(t.Unwatched, u.Unwatched),
			Refused:          hooks.Join2(t.Refused, u.Refused),
			DiscoveryFailed:  hooks.Join(t.DiscoveryFailed, u.DiscoveryFailed),
		}
	}, traces...)
}
