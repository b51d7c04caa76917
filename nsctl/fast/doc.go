// Package fast has the deleter that asks the server half as often as the textbook form in package
// nsctl.
//
// # Concept
//
// The textbook deleter needs 67 requests for an empty namespace, one after the other. Most of them
// learn nothing new. This form makes the same decisions from fewer answers:
//
//   - The answer to deleting a collection lists what the server found by a consistent read. An
//     empty list proves the type empty: no LIST follows.
//   - Types are deleted in parallel. Pods still come first, and alone.
//   - Discovery is kept until it is older than the end of a grace period, or until a request shows
//     that it is outdated.
//   - If several namespaces are terminating, an emptiness check lists each type once, cluster-wide.
//     A namespace is not asked for a type of which it holds nothing.
//   - A namespace that goes with this controller's token gets no report just before, because no
//     client could read it, unless others hold it or its conditions report trouble.
//   - A type that vanishes with its definition during a pass does not fail the pass.
//   - A namespace with a deletion timestamp and no finalizer is deleted once more, as older servers
//     need.
//
// # Guarantees
//
// As in package nsctl. The shortcuts rest on two facts: nothing can be created in a namespace once
// its grace period is over, and a list without a resource version is a consistent read. An
// emptiness check and a discovery count only for namespaces whose grace period had ended when they
// began.
//
// # Goroutines
//
// A pass starts goroutines for types, and waits for them.
//
// # Failure
//
// As in package nsctl. An emptiness check that fails, is slow or is incomplete proves nothing, and
// the namespace is asked.
//
// # Testing
//
// The suite in nsctltest, which the textbook form passes as well, and tests of the shortcuts.
//
// Next: package cmd/orrery
package fast
