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
// sends a third of the requests. Both differ from kube-controller-manager on purpose:
//
//   - A namespace without this controller's token is left alone. Upstream deletes its content as
//     long as it has any token, also when its owner may let it go at any moment.
//   - A pass ends with its namespace. No precondition of a collection's DELETE protects a namespace
//     that was re-created under the name, so a GET comes right before each. Upstream deletes on.
//   - Parts of a condition's message are cut: a status that is too large could not be written.
//   - An error while deleting pods ends the pass. Upstream goes on, and deletes the network
//     policies of pods that still run.
//   - A condition that is false because not everything was examined says so in its message
//     (#138208): pods remain, types could not be discovered, or deleting failed. Type, status and
//     reason are upstream's.
//   - A type that discovery lists and that a request does not find is not taken for empty.
//   - A server that is starting does not list all of its types; its readiness is checked first.
//   - `events`, served under two groups from one storage, are deleted once.
//   - Writes that meet a conflict are repeated a bounded number of times, with pauses.
//   - A change of the status alone brings no look: the pass that reported it has planned the next
//     one. Upstream hears its own report, and looks again after five seconds.
//   - Retries are planned for each namespace on its own: no bucket shared by all.
//
// # Guarantees
//
// A namespace is finalized only after a pass in which the server was ready, discovery complete, no
// request failed and nothing was left. Only this controller's token is removed; a deleter with
// another token than "kubernetes" is a second party, which writes neither phase nor conditions.
// Writes carry the resource version that they are based on, and a namespace that was re-created
// under its old name is not written to, and its content is not deleted: the controller ends the
// pass when it hears of that, and the deleter compares the UID right before each deletion. At most
// one worker processes a namespace at a time.
//
// A list is read page by page. One that does not end, or repeats its token, fails the type, by name
// ([*EndlessListError]), and holds only the namespaces that it is about.
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
// [*wait.Panic] and writes no condition; one that takes longer than Config.PassTimeout fails with
// [controller.ErrPassTimeout].
//
// # Testing
//
// The suite in nsctltest runs both forms against a scripted API server, inside synctest bubbles: a
// pod with a grace period of five minutes is waited for in a millisecond.
//
// Next: package cmd/orrery
package nsctl
