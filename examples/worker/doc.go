// Package worker is the worker pool that the example controllers share.
//
// # Concept
//
// A controller is a set of handlers that put keys into a work queue, and workers that take them
// out. The handlers and the pass differ from controller to controller; what lies between them does
// not, and is here: one page, pool.go.
//
//	handler ── Add(key) ──▶ queue ──▶ runWorker ── processNextWorkItem ── Reconcile(key)
//	                          ▲                                              │
//	                          │            nil, 0           Forget           │
//	                          │            nil, after       AddAfter(after)  │
//	                          └─────────── error or panic   AddRateLimited ──┘
//
// Package nsctl has the same loop with what belongs to namespaces, and examples/virtualmachine
// writes it out once more, as the article does.
//
// # Guarantees
//
//   - Two workers never have the same key at a time.
//   - A key that fails is tried again, later each time, for ever.
//   - Before [Pool.Run] no key is kept: a standby of a leader election has no workers, and its
//     queue would only grow. Run begins with the keys that Config.Keys returns, and an event that
//     arrives meanwhile is queued as well.
//
// # Goroutines
//
// [Pool.Run] starts the workers, and returns when all of them have ended: when stop has ended and
// what was queued is done, when that took longer than Config.DrainTimeout, or at once when alive
// has ended.
//
// # Failure
//
// A pass that panics has failed with a [*wait.Panic], whatever wait.ReallyCrash says: one broken
// object must not end a process with other controllers in it. A pass that takes longer than
// Config.PassTimeout fails with [ErrPassTimeout]. One that does not even end then keeps a worker,
// and [Pool.Healthy] says so.
//
// # Testing
//
// Everything in virtual time: panics, time-outs, a standby, both ways to stop.
//
// Next: package cmd/orrery
package worker
