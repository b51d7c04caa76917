// Package bench is the vocabulary of the benchmark harness: what a run is asked to do, what it measures, and what it
// brings back.
//
// # Concept
//
// A benchmark is a workload and a subject. The workload is written once, against a small interface; the subject is this
// project's gear, or an adapter to somebody else's. So all subjects do the same work by the same code, and each run
// proves that it was done: every key processed, every event arrived, caches equal.
//
//	load ──> queuebench, fifobench, storebench, dispatchbench, syncbench ──> Result ──> report, plot
//	              │                                                   │
//	           subject (ours, or an adapter)                      Meter ──> Progress
//
// The same workloads serve two purposes. A [Result] is one run with the parameters that the user chose, as "lab
// bench" shows it. A [Scenario] is a fixed piece of work for comparisons, where two processes, one a side, take turns.
//
// # Guarantees
//
// A Result or an [Outcome] without an error has been verified by the workload. Latencies are measured from the moment
// at which an event was due, not from when a late producer got round to it.
//
// # Goroutines
//
// Workloads own theirs and have ended them when they return. [MemoryWatch] and [Progress] have one each that Stop ends. All methods of
// [Meter] may be called from any goroutine.
//
// # Failure
//
// A workload that finds something missing returns a [*ProofError]: figures of work that was not done are worthless, so
// there are none.
//
// # Testing
//
// The arithmetic is tested with figures whose results are known; workloads are tested with subjects that lose things.
//
// Next: package load
package bench
