// Package chaos disturbs informers and "orrery run" on a real control plane, at random, and checks
// that nothing is lost. Package internal/lab/chaos does so in virtual time on the server in memory.
//
//	make -C upstream chaos                      a run of two minutes with a random seed
//	make -C upstream chaos SEED=42 DURATION=5m  the plan of that seed
//	bin/chaos -plan -seed 42                    print the plan
//
// One or two processes of "orrery run" and nine informers of this process each reach the API server
// through a door: a faultnet.Proxy, which breaks bytes and connections, and a rewriter, which
// breaks HTTP. Writers change objects, types and namespaces without faults. A [Plan] follows from
// the seed alone; what a fault strikes also depends on the machine's timing.
//
//	subjects ── faultnet.Proxy ── rewriter ── kube-apiserver ── etcd
//	                                               │
//	writers and checks ────────────────────────────┘
//
// After each round of twenty seconds, and at the end, the run checks that
//
//   - every informer's store equals what the server lists, by UID and resourceVersion;
//   - every handler saw a valid history that ends in that state, with one callback at a time;
//   - every deleted namespace is gone, or its conditions say what holds it;
//   - no object of a deleted namespace is left, and no namespace was finalized with content;
//   - the processes run with few goroutines and files and little memory, log no error, and end in
//     time;
//   - informers that have ended leave no goroutine, request or connection.
//
// In a second scene connections go silent: replicas with default settings must notice within a
// minute and delete what was deleted meanwhile. [Run] owns all goroutines and processes and waits
// for them. A violation is a [*Failure] with the seed; the run's directory then keeps logs, plan
// and report. The tests break each rule on purpose and need no control plane.
package chaos
