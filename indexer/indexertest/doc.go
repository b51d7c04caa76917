// Package indexertest is the behaviour of an object store with indexes, written down as tests.
//
// # Concept
//
// [Run] takes an [Implementation] and tests it. The suite runs against the textbook form, against
// package fast and, in the module upstream, against client-go's cache.NewIndexer. It needs nothing
// but an indexer.Interface of [*Object], so a store of your own is tested by one call.
//
// # Guarantees
//
// Where a store deliberately does less there is a [Capability]. The store names those it lacks,
// with the reason, and the suite asserts what it does instead.
//
// # Goroutines
//
// The concurrent tests start readers and writers and wait for all of them. They judge by content,
// never by time: a reader that sees half of a write fails the test on any machine. The limits of
// 20 seconds in some tests are reached by a deadlock only, and say so.
//
// # Failure
//
// The suite reports through *testing.T, in words that name the behaviour.
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
