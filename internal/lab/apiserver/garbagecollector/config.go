package garbagecollector

import (
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// Config says what a [Collector] works on. Registry and Catalog are needed.
type Config struct {
	Registry *registry.Registry
	Catalog  *resources.Catalog
	// Trace is told what happens; nil for none.
	Trace *Trace
}

// Trace holds hooks, which are called by the worker and must not wait. Each may be nil.
type Trace struct {
	// Deleted: an object was deleted because its owners are gone or are waiting for its going.
	Deleted func(object registry.Target, policy api.DeletePropagation)
	// Released: a reference to an owner was taken out of an object that stays.
	Released func(object registry.Target)
	// Finished: a finalizer of the collector was taken away from an owner.
	Finished func(object registry.Target, finalizer string)
	// Failed: a write was refused and is going to be repeated.
	Failed func(object registry.Target, err error)
}

func (t *Trace) deleted(object registry.Target, policy api.DeletePropagation) {
	if t != nil && t.Deleted != nil {
		t.Deleted(object, policy)
	}
}

func (t *Trace) released(object registry.Target) {
	if t != nil && t.Released != nil {
		t.Released(object)
	}
}

func (t *Trace) finished(object registry.Target, finalizer string) {
	if t != nil && t.Finished != nil {
		t.Finished(object, finalizer)
	}
}

func (t *Trace) failed(object registry.Target, err error) {
	if t != nil && t.Failed != nil {
		t.Failed(object, err)
	}
}
