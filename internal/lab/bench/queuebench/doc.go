// Package queuebench has the workloads for work queues: one key's way through, producers and workers at the same time,
// delays, rate limits.
//
// # Concept
//
// A workload talks to a [Queue], the part of a rate-limiting work queue that controllers use. Whatever has these methods
// can be measured: a [Subject] makes queues of its kind. [Orrery] is this project's fast queue; [Textbook] is beside it, so
// that a run shows what a table made for it, a ring and a lock made for short sections buy.
//
// client-go's queue and the priority queue of controller-runtime are subjects of the module upstream.
//
// [Run] is what a user chooses: so many producers, workers and keys. [Scenarios] are fixed pieces of work for
// comparisons. The code that drives a queue is the same for all subjects.
//
// # Guarantees
//
// Every run proves that the subject did what a work queue has to do: a key that was added is handed out after that, and
// never to two workers at once. Latencies are measured from when an event was due.
//
// # Goroutines
//
// Run and the scenarios start producers and workers and have ended them when they return, also when the context ends
// early. Queues are shut down.
//
// # Failure
//
// A subject that loses, repeats or invents a key gets a [*bench.ProofError], and no figures. If the context ends, so does
// the run, with the context's error.
//
// # Testing
//
// Every workload runs with queues that lose keys, hand them out twice or invent them, and has to notice.
//
// Next: package fifobench
package queuebench
