// Package worker runs scenarios in a process of their own, so that two subjects can be compared without sharing a heap,
// a scheduler or a garbage collector.
//
// # Concept
//
// A worker is a program that links one subject and calls [Main] with its scenarios. Whoever compares starts one [Process]
// a subject and lets them take turns:
//
//	comparison ──Worker.Run(scenario, effort)──> stdin   worker (ours)
//	           <──outcome: figures, proof──────── stdout
//	           ── the next call, when that answer is there ──> worker (theirs)
//
// Calls are JSON-RPC as net/rpc/jsonrpc speaks it.
//
// # Guarantees
//
// One scenario runs at a time. Before each, and after each, the worker collects its garbage: a scenario does not pay for
// the one before it, and a worker that waits for its next request does not sweep while the other side is being measured.
// A scenario that wants a fresh process ([orrery/internal/lab/bench.Scenario.Fresh]) gets one to itself, and another process
// keeps what is warm for the others.
//
// # Goroutines
//
// [Serve] has one for each call; all have ended when it returns. [Process] has one for each child, which ends with it.
//
// # Failure
//
// A worker whose input ends stops what it is doing and exits: it dies with its parent, however that died. Errors name
// the side and the scenario. [Process.Stop], and a context that ends, stop the worker and everything that
// it has started; one that does not listen is killed.
//
// # Testing
//
// The tests are their own worker: the test binary starts itself.
//
// Next: package report
package worker
