// Package fifobench measures queues of what happened to objects: how fast something goes through, how long it waits,
// and how long a fresh list stops everybody else.
//
// # Concept
//
// One goroutine pops, as the loop of an informer does; one or several add, as a reflector does. The driver is the same
// for all queues; a [Gear] says what the queue is and what its objects are.
//
//	producer ─┐                        ┌─> number of the object: in order? once? when was it due?
//	producer ─┼─> Add ──> queue ──> Pop┘
//	          └── waits while more than a backlog is on its way
//
// [Run] is one run with the flags of "lab bench fifo": first as fast as it goes, then at a fixed rate, for the
// latency. [Scenarios] are the fixed pieces of work of the comparison.
//
// # Guarantees
//
// Everything that was added has been handed out, once, or there are no figures. Objects are made before the clock
// starts, except in the paced part, where each event brings an object of its own as it does from a watch.
//
// # Goroutines
//
// All have ended when Run or a scenario returns, and the queue is closed.
//
// # Failure
//
// A *bench.ProofError if something was lost, repeated, reordered or altered; the context's error if it has ended.
//
// # Testing
//
// With queues that lose, repeat, reorder and stop.
//
// Next: package storebench
package fifobench
