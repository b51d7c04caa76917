// Package controller is the worker pool that the example controllers share.
//
// # Concept
//
// A controller has handlers that put keys into a work queue, and workers that take them out.
// Handlers and passes differ from controller to controller. What lies between them does not, and is
// here on one page, pool.go.
//
//	handler ── Add(key) ──▶ queue ──▶ runWorker ── processNextWorkItem ── Reconcile(key)
//	                          ▲                                              │
//	                          │            nil, 0           Forget           │
//	                          │            nil, after       AddAfter(after)  │
//	                          └─────────── error or panic   AddRateLimited ──┘
//
// Package nsctl has the same loop for namespaces, and examples/virtualmachine/steps/3-queue has it
// in its shortest form.
//
// # Guarantees
//
//   - Two workers never process the same key at a time.
//   - A key that fails is retried forever, with growing delays.
//   - Before [Pool.Run] the pool drops keys: a standby of a leader election has no workers, and its
//     queue would only grow. Run begins with the keys that PoolConfig.Keys returns, and misses no event
//     that arrives meanwhile.
//
// # Goroutines
//
// [Pool.Run] starts the workers and returns when all of them have ended. After stop is done it
// first finishes what is queued, for at most PoolConfig.DrainTimeout. After alive is done it returns at
// once.
//
// # Failure
//
// A pass that panics has failed with a [*wait.Panic], whatever wait.ReallyCrash says: one broken
// object must not end a process with other controllers in it. A pass that takes longer than
// PoolConfig.PassTimeout fails with [ErrPassTimeout]. One that ignores its context keeps its worker,
// and [Pool.Healthy] reports it.
//
// # Testing
//
// The tests run in virtual time: panics, time-outs, a standby, both ways to stop.
//
// Next: package cmd/orrery
package controller
