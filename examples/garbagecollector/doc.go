// Package garbagecollector deletes what has lost its owners.
//
// # Concept
//
// An object can name its owners, in metadata.ownerReferences. The API server does nothing with them; this controller does.
// docs/learn/garbage-collection.md explains the three ways of a deletion.
//
//	informers of all types ── observe, forget ──▶ graph ──▶ attemptToDelete ── deletePass ──▶ DELETE, PATCH
//	(package monitor)                             by UID └─▶ attemptToOrphan ── orphanPass ─▶ PATCH
//
// node.go and graph.go are what is known, delete.go decides, write.go sends.
//
// # Guarantees
//
//   - Nothing is deleted before the server was asked for each of its owners and had none of them.
//   - What is deleted or changed is the object that was decided about, by UID and resource version.
//   - A finalizer is removed when all dependents have been dealt with, also those that informers are late with, by Config.Settle.
//   - Objects that wait for each other, in a circle, do not wait for ever.
//
// # Goroutines
//
// [Controller.RunWithin] owns those of the informers and the workers of both queues; all have ended when it returns.
//
// # Failure
//
// A pass that fails is repeated, later each time. A conflict is a failure like any other: the informer is about to tell the newer state.
// Everything that is known is on the server: a collector that is killed between two requests is continued by the next one.
//
// # Testing
//
// Against the API server in memory, in virtual time, killed before every request.
//
// Next: package cmd/orrery
package garbagecollector
