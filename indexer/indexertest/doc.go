// Package indexertest is the behaviour of an object store with indexes,
// written down as tests, and a plain store to compare with.
//
// # Concept
//
// [Run] takes an [Implementation] and tests it. The suite runs against
// package indexer, against [Reference] (one map, one lock) and, in the module
// upstream, against client-go's cache.NewIndexer. It needs nothing but the
// methods of [Indexer] and stores [*Object]s, so a store of your own is tested
// by one call.
//
// # Guarantees
//
// Where this project deliberately differs from the original there is a
// [Capability]. The original lacks it, with a reason, and the suite then
// asserts what the original does. Nothing is skipped.
//
// # Goroutines
//
// The concurrent tests start readers and writers and wait for all of them.
// They judge by content, never by time: a reader that sees half of a write
// fails the test on the fastest and on the slowest machine.
//
// # Failure
//
// The suite reports through *testing.T.
//
// # Testing
//
//	func TestContract(t *testing.T) {
//		indexertest.Run(t, indexertest.Implementation{
//			Name: "mine",
//			New:  func(c indexer.Config[*indexertest.Object]) indexertest.Indexer { return NewMine(c) },
//		})
//	}
//
// Next: package informer
package indexertest
