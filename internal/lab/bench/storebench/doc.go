// Package storebench measures stores of objects with an index by namespace: what an event costs, what a look-up costs,
// and what readers and the writer cost each other.
//
// # Concept
//
// One goroutine writes, as the loop of an informer does; any number read. The driver is the same for all stores; a
// [Gear] says what the store is and what its objects are.
//
//	writer ──> Update ──> store ──> List, ByIndex, Get ──> reader
//	                                                    ──> reader
//
// [Run] is one run with the flags of "lab bench store": first as fast as it goes, then with writes at a fixed rate,
// for the latency. [Scenarios] are the fixed pieces of work of the comparison.
//
// # Guarantees
//
// After a run the store holds, by all ways of reading it, the states that were written last; and what readers were
// given while it ran was complete; or there are no figures. Objects are made before the clock starts.
//
// # Goroutines
//
// All have ended when Run or a scenario returns.
//
// # Failure
//
// A *bench.ProofError if the store holds something else than it should; the context's error if it has ended.
//
// # Testing
//
// With stores that lose, keep and mix up objects.
//
// Next: package dispatchbench
package storebench
