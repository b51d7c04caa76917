// Package monitor watches the metadata of all objects of a server, whatever their types.
//
// # Concept
//
// Some controllers are about objects of every type: a garbage collector, a quota. They cannot name
// their informers beforehand. [Monitors] asks the server which types it has and runs an informer of
// metadata for each. Metadata is all that such a controller needs, and a small part of an object.
//
//	discovery ──▶ types ──▶ one informer each ── Observe, Forget, Vanished ──▶ the controller
//	    ▲                        │
//	    └── a CustomResourceDefinition or an APIService has changed
//
// types.go reads the answer of discovery; monitors.go starts and stops the informers. If another
// controller of the process has an informer of a type, monitors use that one, so that each type has
// one watch.
//
// # Guarantees
//
//   - Forget is called for each object that is deleted, and Vanished for each type that the server
//     no longer has.
//   - Discovery runs once a period and after a change of types, but at most once a second.
//   - If a group does not answer, its types stay as they were.
//
// # Goroutines
//
// [Monitors.Run] starts those of the informers. All have ended when it returns.
//
// # Failure
//
// If the server refuses to list a type, Refused is called once, and [Monitors.Synced] does not wait
// for the type. Its informer tries again.
//
// # Testing
//
// Against the API server in memory, in virtual time, with both sets of gears.
//
// Next: package examples/garbagecollector
package monitor
