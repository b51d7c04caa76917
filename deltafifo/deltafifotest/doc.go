// Package deltafifotest is the contract of a DeltaFIFO, written once as tests that any
// implementation can be put through.
//
// # Concept
//
// [Run] takes an [Implementation] and asserts, one behaviour per subtest, what a DeltaFIFO does:
// order, accumulation, deduplication, tombstones, resync, the initial population, closing. It
// sees nothing but the methods of [Queue]. Three implementations go through it:
//
//   - this project's deltafifo.DeltaFIFO;
//   - [Naive], one lock and no cleverness, kept here to be read and measured against;
//   - client-go's cache.DeltaFIFO through an adapter in the upstream module, which proves that the
//     contract is the original's and not our idea of it.
//
// Your own is a fourth: write a function that returns it and call Run.
//
// # Capabilities
//
// Where this project differs from the original on purpose there is a [Capability]. An
// implementation lists those that it lacks, each with the reason. The test then asserts what
// happens without it, so the same test documents the difference and fails when it is no longer
// true; nothing is skipped.
//
// # Tools
//
// [Consumer] is the other side of a DeltaFIFO, small enough to read at a glance: a store in which
// the deltas end up, with a journal of what handlers would have been told. [Object] is what the
// tests put in.
//
// Next: package indexer.
package deltafifotest
