// Package nsctl is the namespace controller: it empties terminating namespaces and lets them go.
//
// # Concept
//
// Deleting a namespace takes two parties. On DELETE the API server sets a deletion timestamp and
// the phase Terminating, refuses new content from then on, and keeps the object while
// spec.finalizers is not empty. The controller sees the timestamp, removes the content, and takes
// its own token, "kubernetes", out of that list; with the last token the object goes.
//
//	informer ── handler ──▶ queue ──▶ worker ──▶ Deleter.Delete
//	            after 5 s              │             GET the namespace: our token? phase, if not set
//	                                   │             discovery: which types are there?
//	                                   │             pods ──── anything left? stop here
//	                                   │             all other types
//	                                   │             status: five conditions
//	                                   │             finalize, if nothing is left and nothing failed
//	                                   │
//	                                   ├─ nil                      Forget
//	                                   ├─ ResourcesRemainingError  AddAfter(estimate/2 + 1 s)
//	                                   └─ any other error          AddRateLimited
//
// [NewDeleter] returns the textbook form of the deleter: it follows the articles on the namespace
// controller that docs/learn/mechanisms.md names. Package nsctl/fast has the optimized form, which
// sends a third of the requests. [Deleter] says how both differ
// from kube-controller-manager.
//
// # Guarantees
//
// A namespace is finalized only after a pass in which the server was ready, discovery complete, no
// request failed and nothing was left. [Deleter] names the others.
//
// # Goroutines
//
// [Controller.Run] owns the workers and returns when all of them have ended.
//
// # Failure
//
// A pass ends with nil, with [*ResourcesRemainingError] when content needs time, or with another
// error when it failed: [*ContentError] holds one error for each thing that went wrong. Every
// failed pass is repeated, and the namespace's conditions say why. A pass that panics fails with a
// [*wait.Panic] and writes no condition; one that takes longer than Config.Pool.PassTimeout fails
// with [controller.ErrPassTimeout].
//
// # Testing
//
// The suite in nsctltest runs both forms against a scripted API server, inside synctest bubbles: a
// pod with a grace period of five minutes is waited for in a millisecond.
//
// Next: package cmd/orrery
package nsctl
