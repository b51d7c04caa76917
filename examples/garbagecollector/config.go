package garbagecollector

import (
	"orrery/examples/monitor"
	"orrery/examples/worker"
	"orrery/restclient/api"
)

// Config is what a controller needs. Monitor.Discovery and Monitor.Heads are required; the zero
// value of everything else works.
type Config struct {
	// Monitor says how objects are watched and written. The controller overwrites its hooks, except
	// Refused.
	Monitor monitor.Config
	// Worker tunes the queue and its workers, 20 by default. The controller overwrites Name,
	// Reconcile, Keys and Synced.
	Worker worker.Config
	// Trace is called as things happen. Default: none.
	Trace *Trace
}

// Trace is a set of hooks, called on the goroutines of workers and informers. Each may be nil.
type Trace struct {
	// Wrote: an object was written; what says how, such as "deleted (Background)".
	Wrote func(object api.ObjectReference, what string)
	// InvalidNamespace: an object names an owner in another namespace, or is cluster-scoped and
	// names an owner in a namespace. Kubernetes records an Event with the reason
	// OwnerRefInvalidNamespace.
	InvalidNamespace func(object api.ObjectReference, owner api.OwnerReference)
	// Forbidden: a pass lacks the right to get, patch or delete an object, and is repeated after a
	// minute. err has the server's answer.
	Forbidden func(err error)
}
