// Package dispatchbench measures the way of an event through an informer: from the watch that hands it out to the
// handlers that are called.
//
// # Concept
//
// Only the watch is a fake. Everything between it and the handler is the subject's: the reflector, its queue, the store,
// and what brings one event to many handlers.
//
//	script ──Send──> channel ──> reflector ──> queue ──> store ──> handler 0: witness
//	(made before)    (the fake watch)                        └──> handler 1: witness
//
// The events are made before anything is measured and are sent round and round. Each has a version of its own, so that a
// [Handler] which is told of a version knows which event that was, which one the object should have been told of before,
// and when the event was due. The watch is a channel of Go for every subject, because client-go takes events from
// nothing else.
//
// # Guarantees
//
// A run without an error has been witnessed by every handler: all events, in order for each object, each update from the
// state that was told before. Of a subject that merges events ([Subject].Merges) the history must make sense and end in
// the final state, deletions included. Afterwards the store must hold what the script has led to.
//
// # Goroutines
//
// A run has one that sends; the rest belongs to the subject, which has ended when the run returns.
//
// # Failure
//
// What was lost, repeated, swapped or corrupted is a [*orrery/internal/lab/bench.ProofError].
//
// # Testing
//
// Subjects that lose, repeat and swap events must be found out.
//
// Next: package syncbench
package dispatchbench
