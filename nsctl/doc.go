// Package nsctl is the namespace controller: it empties namespaces that are being deleted and lets them go.
//
// # Concept
//
// Deleting a namespace takes two parties. On DELETE the API server stamps a deletion timestamp, sets the phase
// Terminating, refuses new content from then on, and keeps the object for as long as spec.finalizers is not empty. The
// controller sees the timestamp, removes the content, and takes its own token, "kubernetes", out of that list;
// with the last token the object goes.
//
//	informer ── handler ──▶ queue ──▶ worker ──▶ Deleter.Delete
//	            after 5 s              │             GET the namespace, and meanwhile
//	                                   │             discovery: which types are there?
//	                                   │             phase, if the server has not set it
//	                                   │             many namespaces at once? a survey of all types
//	                                   │             pods ──── anything left? stop here
//	                                   │             all other types, side by side
//	                                   │             status: five conditions, unless the namespace goes now
//	                                   │             finalize, if nothing is left and nothing failed
//	                                   │
//	                                   ├─ nil                      Forget
//	                                   ├─ ResourcesRemainingError  AddAfter(estimate/2 + 1 s)
//	                                   └─ any other error          AddRateLimited
//
// It does what kube-controller-manager's own controller does, and differs on purpose in these points:
//
//   - Types are emptied side by side, not one after the other. Pods still go first, and alone.
//   - The answer to deleting a collection lists what was found. An empty list proves the type empty, so an empty
//     type costs one request instead of two; `events`, served under two groups, are handled once.
//   - When several namespaces are in deletion, each type is listed once for all of them. A type that a namespace holds
//     nothing of need not be asked for in that namespace any more: see surveyor.
//   - A namespace that vanishes with this controller's token gets no report just before that: nobody could read it. One
//     that others hold, or that was reported to be in trouble, does.
//   - Discovery is kept until it is older than the end of a grace period, or until a request shows that it is wrong. A
//     partial answer is never kept. A server that is just starting does not know all of its types yet and does not say so:
//     it is asked whether it is ready first. The original takes its word, and then custom objects stay behind.
//   - While pods remain, the conditions say so; the original reports that all content was removed (#138208).
//   - An error while deleting pods ends the pass; the original goes on, and deletes the network policies of pods
//     that still run.
//   - A type that discovery lists and that a request does not find is not taken for empty. If a new discovery does not
//     list it any more it has gone, and its objects with it; otherwise the pass has failed.
//   - Writes that meet a conflict are repeated a bounded number of times, with pauses.
//   - The grace period before the first pass can be set.
//   - Retries are planned for each namespace on its own: no bucket that is shared by all makes one wait for others.
//   - A namespace with a deletion timestamp and no finalizer of any kind is deleted once more, for older servers.
//
// # Guarantees
//
// A namespace is finalized only after a pass in which the server was ready, discovery complete, no request failed and
// nothing was left. That a type is empty is proved by a consistent read that began when nothing could be created in the
// namespace any more. Only this controller's token is removed. Writes carry the resource version that they are based
// on, and a namespace that was re-created under its old name is not written to on the old one's account. A namespace is
// never in the hands of two workers.
//
// # Goroutines
//
// [Controller.Run] owns the workers and returns when all of them have ended. A pass starts goroutines for the
// types that it empties and waits for them.
//
// # Failure
//
// A pass ends with nil, with [*ResourcesRemainingError] when it went well and something needs time, or with
// another error when it failed: [*ContentError] holds one error for each thing that went wrong, [*ResourceError]
// names the type, [*UnexpectedItemsError] and [*UIDChangedError] speak for themselves. Every failed pass is
// repeated. What is wrong stands in the namespace's conditions.
//
// A pass that panics has failed with a [*PanicError], whatever wait.ReallyCrash says, and one that takes longer than
// Config.PassTimeout with [ErrPassTimeout]: neither costs more than the worker that has it, for that time. Trace.PassStuck
// tells of passes that take longer than [StuckAfter].
//
// # Testing
//
// The deleter runs against a scripted API server over an in-memory connection, inside synctest bubbles: a pod
// with a grace period of five minutes is waited for in a millisecond.
//
// Next: package cmd/orrery
package nsctl
