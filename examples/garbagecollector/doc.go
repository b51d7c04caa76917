// Package garbagecollector deletes objects whose owners are gone.
//
// # Concept
//
// An object can name its owners, in metadata.ownerReferences. The API server does nothing with
// them; this controller does. docs/learn/garbage-collection.md explains the three ways to delete.
// "orrery run" and the API server in memory run it.
//
//	informers of all types ── observe, forget ──▶ graph ──▶ queue ── pass ──▶ DELETE, PATCH
//	(monitors)                                    by UID
//
// types.go reads which types the server has, monitors.go runs an informer for each, graph.go holds
// what is known, delete.go decides and sends.
//
// # Guarantees
//
//   - An object is deleted only after the server has said of each of its owners that it does not
//     exist, or is itself being deleted in the foreground.
//   - Each write names the UID and the resource version of the object that was decided about.
//   - foregroundDeletion is removed when no dependent that blocks its owner is left, orphan when no
//     dependent names the owner. Both stay for half a second at least, because the informers of
//     different types are not in step.
//   - Objects that wait for each other in a cycle do not wait forever.
//
// # Failure
//
// A pass that fails is repeated, later each time. A conflict is a failure like any other: the
// informer is about to deliver the newer state. A pass that lacks a right is repeated once a
// minute. All state is on the server: if a collector is killed between two requests, the next one
// continues its work.
//
// Next: package cmd/orrery
package garbagecollector
