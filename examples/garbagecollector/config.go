package garbagecollector

import (
	"cmp"
	"time"

	"orrery/examples/monitor"
	"orrery/examples/worker"
	"orrery/restclient/api"
)

// Config is what a controller needs. Monitor.Discovery and Monitor.Heads are required; the zero value of everything else works.
type Config struct {
	// Monitor says how the objects of the server are seen and written. Its hooks are the controller's and are overwritten.
	Monitor monitor.Config
	// Worker tunes the two queues and their workers, 20 each by default. Name, Reconcile, Keys and Synced are overwritten.
	Worker worker.Config
	// Settle is how long an object that is deleted with Foreground or Orphan keeps its finalizer at least. The informers of
	// different types are not in step, and one may be about to tell of a dependent. Default 500 ms.
	Settle time.Duration
	// Trace gets what happens. Default: none.
	Trace *Trace
}

// Trace is a set of hooks, called on the goroutines of workers and informers. Each may be nil.
type Trace struct {
	// Wrote: an object was written; what says how, such as "deleted (Background)".
	Wrote func(object api.ObjectReference, what string)
	// InvalidNamespace: an object names an owner that it cannot have, in another namespace, or in one although itself is in none.
	// Kubernetes records an Event with the reason OwnerRefInvalidNamespace.
	InvalidNamespace func(object api.ObjectReference, owner api.OwnerReference)
	// Refused: the server does not let the controller see a type, or, if resource is zero, does not tell of types. It is said once
	// for a type; the controller goes on with the others.
	Refused func(resource api.GroupVersionResource, err error)
}

// withDefaults returns the configuration with every field set that is used without a check.
func (c Config) withDefaults() Config {
	c.Worker.Workers = cmp.Or(c.Worker.Workers, 20)
	c.Settle = cmp.Or(c.Settle, 500*time.Millisecond)
	c.Trace = cmp.Or(c.Trace, &Trace{})
	return c
}
