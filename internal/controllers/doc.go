// Package controllers is the controller manager: it starts the controllers that a user chooses, and keeps them apart.
//
// # Concept
//
// A controller manager is a list of controllers and what they share: one process, one connection, one informer for each type, one
// leader election. A [Descriptor] says what a controller is called and needs; its [Initializer] gets a [ControllerContext] and
// makes the controller. [Choose] reads a list in the manner of kube-controller-manager's --controllers, [NewManager] takes what
// was chosen:
//
//	Prepare     discovery ── has the server what it needs? ──┬─ yes ── Initializer ── standby, with warm stores
//	                                                        └─ no ─── missing: look again every 10 s
//	Work        RunWithin of each that stands by, and of each that appears later
//	Shutdown    informers, recorders of Events
//
// In between a process may wait until it is the leader (package leaderelection). What happens meanwhile is not lost.
//
// # Guarantees
//
//   - One watch for each type, however many controllers: [InformerFor] has the same informer for all.
//   - Each controller has its own client, with a user agent and a rate limit, its own queue and workers, and its own check of
//     health, metrics, Events and log lines, by its name.
//   - A controller whose resource the server does not have is no error. It is set up when the resource appears. If the resource
//     disappears later, or the right to watch it, the controller keeps what it knows and waits; it goes on when the resource is
//     back, with a new list. Both are told once: by a line of the log, an Event, and [Status].
//   - A controller that panics has ended, and the others go on. One that does not end holds the process up for a bounded time.
//
// # Goroutines
//
// [Manager.Prepare] starts those of the informers and one that looks for missing resources. They end with its lifetime, and
// [Manager.Shutdown] waits for them. [Manager.Work] starts one for each controller.
//
// # Failure
//
// A name that nobody knows is an [*UnknownNameError] that lists those that exist, two controllers of one name are a
// [*DuplicateNameError]. An initialiser that fails stops the preparation before anything runs; one that is called later, when its
// resource has appeared, is told, and the check of health of its controller fails.
//
// # Testing
//
// Tiny controllers run against the API server in memory, in virtual time and with both sets of gears: types and rights come and
// go, controllers panic and hang, and the server counts the watches.
//
// Next: package nsctl
package controllers
