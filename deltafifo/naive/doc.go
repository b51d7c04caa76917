// Package naive is a DeltaFIFO without cleverness: the one to read before package deltafifo.
//
// # Concept
//
// A map from keys to what happened to them, a slice of the keys in the order of their first
// delta, and one lock that is held for everything, the process function included:
//
//	items   ns/a -> [Added, Updated]     queue   ns/a, ns/b
//	        ns/b -> [Replaced]
//
// # Guarantees
//
// Those of package deltafifo except that a call which puts something in waits for whoever takes
// something out. It goes through the same contract, package deltafifotest.
//
// # Goroutines
//
// It starts none; any may call it.
//
// # Failure
//
// As in package deltafifo.
//
// # Testing
//
// deltafifotest.Run; and the property tests of package deltafifo compare the two.
//
// Next: package deltafifo
package naive
