// Package naive is a store with indexes as one would write it first: the one to read before package
// indexer.
//
// # Concept
//
// A map from keys to objects, and for each index a map from values to sets of keys, all under one
// read-write lock:
//
//	items     "default/web-1" -> object
//	indices   "node" -> "n1" -> {"default/web-1", "default/web-2"}
//
// # Guarantees
//
// Those of package indexer except that readers and writers wait for each other. It goes through
// the same contract, package indexertest.
//
// # Goroutines
//
// It starts none; any may call it.
//
// # Failure
//
// As in package indexer.
//
// # Testing
//
// indexertest.Run; and the property tests of package indexer compare the two after every step.
//
// Next: package indexer
package naive
