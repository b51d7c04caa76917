// Package deltafifotest is the contract of a DeltaFIFO, written once as tests that any
// implementation can be put through.
//
// # Concept
//
// [Run] takes an [Implementation] and asserts, one behaviour per subtest, what a DeltaFIFO does:
// order, accumulation, deduplication, tombstones, resync, the initial population, blocked Pops, closing,
// hooks. It sees nothing but the methods of [Queue]. Four implementations go through it:
//
//   - deltafifo.DeltaFIFO, the textbook form;
//   - fast.DeltaFIFO, by Pop and by PopBatch;
//   - inorder.RealFIFO;
//   - client-go's cache.DeltaFIFO through an adapter in the upstream module, which proves that the
//     contract is client-go's.
//
// To test your own, write a function that returns it and call Run.
//
// # Capabilities
//
// Where forms differ on purpose there is a [Capability]. An implementation lists those that it lacks,
// each with the reason. The test then asserts what happens without it, so the same test documents the
// difference and fails when it is no longer true.
//
// # Tools
//
// [Consumer] is the other side of a queue: a store to which the deltas are applied, with a journal of
// what handlers would have been told. [Object] is what the tests put in. [NewTrace] logs all hooks.
//
// Next: package indexer.
package deltafifotest
