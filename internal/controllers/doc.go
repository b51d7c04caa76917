// Package controllers is the controller manager: it starts the selected controllers and isolates
// them from each other. A [Descriptor] has the name, needs and rights of a controller; its
// [Initializer] builds the controller from a [ControllerContext]. [Choose] parses --controllers,
// and [NewManager] takes the selection:
//
//	Prepare     discovery ── are its resources served? ──┬─ yes ── Initializer ── standby, with warm stores
//	                                                 └─ no ─── missing: retry every 10 s
//	Work        RunWithin of each controller in standby, and of each that is set up later
//	Shutdown    informers, recorders of Events
//
// There is one watch for each type: [InformerFor] returns the same informer to all controllers.
// Each controller has its own client with a user agent and a rate limit, its own queue and workers,
// and its own health check, metrics, Events and log lines. If a resource is missing, its
// controllers wait and are set up when it appears. If a resource or the right to watch it
// disappears later, the controllers keep their stores and continue after a new list. Both are
// reported once: by a log line, an Event, and [Status]. A controller that panics has ended, and the
// others continue; one that does not return delays the end of the process for a bounded time.
// [Manager.Shutdown] waits for the goroutines that Prepare started.
package controllers
