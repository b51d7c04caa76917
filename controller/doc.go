// Package controller has what a controller is made of besides its gears: a manager with the
// informers of a program, controllers whose passes get an object, and the worker pool below them.
//
// # Concept
//
// A controller looks at an object, compares what is with what should be, and acts. examples/greeter
// is one in forty lines:
//
//	namespaces := controller.Watch[*api.Namespace](m, api.NamespacesResource, "greet")
//	c := controller.New(m, "greeter", namespaces, reconcile, controller.Options{})
//	controller.Owns(c, greetings, func(greeting *api.ConfigMap) string { return greeting.Namespace })
//
// [Watch] keeps a local copy of a collection. [New] calls a [Reconcile] for each of its objects,
// and again after each change. [Owns] calls it for an object when one that belongs to it changes.
// [Main] connects all of that to the cluster that kubectl would choose. With the argument rbac it
// prints the rights that the program needs; [Manager.Allow] declares those to write. With an
// [Election], the flag -leader-elect, one of several replicas works.
//
// Handlers put keys into a work queue, and workers take them out. What lies between them is on one
// page, pool.go: the [Pool], which also serves controllers that have their own handlers, such as
// that of package nsctl. [Manager.Add] runs such a controller. The [gears.Set] of Config chooses
// the forms of the gears.
//
// # Guarantees
//
//   - Passes begin when all local copies of the manager are complete.
//   - Two workers never process the same key at a time.
//   - A key that fails is retried forever, with growing delays, unless the error is [Permanent].
//   - Before [Pool.Run] the pool drops keys: a standby of a leader election has no workers, and its
//     queue would only grow. Run begins with the keys that PoolConfig.Keys returns, and misses no
//     event that arrives meanwhile.
//
// # Goroutines
//
// [Manager.Run] and [Pool.Run] start the informers and the workers, and return when all of them
// have ended. When the context is done, queued keys and running passes are finished first, for at
// most DrainTimeout. Pool.Run has a second context, alive: when that is done, passes are
// cancelled at once.
//
// # Failure
//
// Failed passes, and informers that cannot list or watch, are written to Config.Failures. A pass
// that panics has failed with a [*wait.Panic], whatever wait.ReallyCrash says: one broken object
// must not end a process with other controllers in it. A function of [Owns] that panics ends the
// process. A pass that takes longer than its time limit fails with [ErrPassTimeout]. One that
// ignores its context keeps its worker, and [Pool.Healthy] reports it.
//
// # Testing
//
// Package controllertest starts the API server in memory for the test of a controller. The tests
// here run in virtual time against the same server, with the fast and the textbook gears.
//
// Next: package nsctl
package controller
