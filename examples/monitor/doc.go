// Package monitor watches the heads of all objects of a server, whatever their types.
//
// # Concept
//
// Some controllers are about objects of every type: a garbage collector, a quota. They cannot name their informers beforehand. So the
// server is asked which types it has, and there is an informer for each of them, of heads only: an object's metadata is all that such a
// controller needs, and is a small part of it.
//
//	discovery ──▶ types ──▶ one informer each ── Observe, Forget, Vanished ──▶ the controller
//	    ▲                        │
//	    └── a CustomResourceDefinition or an APIService has changed
//
// types.go reads what discovery says, monitors.go starts and stops the informers.
//
// # Guarantees
//
//   - An object is forgotten when it is deleted. A type whose objects cannot be seen any more has vanished, and all of them with it.
//   - Discovery runs once a period, after a change that may concern types, and never more often than once a second.
//   - Types of a group that does not answer stay as they were.
//
// # Goroutines
//
// [Monitors.Run] has one, and those of the informers. All have ended when it returns.
//
// # Failure
//
// A type that the server refuses to show is told once and done without. Its informer tries again.
//
// # Testing
//
// By the tests of package examples/garbagecollector, against the API server in memory.
//
// Next: package examples/garbagecollector
package monitor
