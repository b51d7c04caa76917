// Package theirs lets the workloads of internal/lab/bench run on the original: client-go's queue, FIFO, store, informer and
// client, and controller-runtime's priority queue.
//
// # Concept
//
// A workload is written once, against a small interface; what is here are adapters that satisfy these interfaces with
// the original. They translate calls and do nothing else. What an adapter has to add, such as boxing an object in an
// interface or asserting its type, is what any user of the original has to add as well, and belongs to the figure.
//
// The versions are those of this module's go.mod, with the feature gates as they are by default.
//
// # Guarantees
//
// No adapter has a faster or a slower way than the documentation of the original recommends.
//
// # Goroutines
//
// Those of the original. An adapter's Close or Stop ends them.
//
// # Failure
//
// An original that cannot be built fails the scenario.
//
// # Testing
//
// The tests of package compare see to it that every measure has its scenario here; the workloads prove their results.
//
// Next: package compare
package theirs
