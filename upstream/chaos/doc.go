// Package chaos disturbs informers and "orrery run" on a real control plane, at random, and checks that nothing is lost.
// It is the half of the house's chaos that has no virtual time, no server of ours and no process of ours in the same
// address space; package internal/lab/chaos is the other half.
//
//	make -C upstream chaos                      a run of two minutes, with a seed that is drawn and printed
//	make -C upstream chaos SEED=42 DURATION=5m  the plan of that seed
//	bin/chaos -plan -seed 42                    print the plan
//
// # Concept
//
// The control plane is the genuine one of package controlplane. The subjects are one or two processes of "orrery run" and,
// in this process, informers in all their variety: objects typed, whole and as heads, JSON and protobuf, lists as streams
// and in pages, watches over HTTP and websocket, handlers of all four deliveries, quick and slow, early and late.
//
// Each subject reaches the API server through a door of its own. A door consists of two proxies: one of package faultnet,
// which breaks bytes and connections, and one that ends the encryption and breaks what HTTP means: it refuses requests,
// loses answers, lets pages expire, withholds, repeats and ends watch events.
//
//	subjects ── faultnet.Proxy ── rewriter ── kube-apiserver ── etcd
//	                                              │
//	writers and checks ───────────────────────────┘
//
// Writers go straight to the server. They change objects, create them anew under their old names, take a type away and
// bring it back, and above all create, fill and delete namespaces, some of them with content that a finalizer holds.
//
// A [Plan] says what happens when. It follows from the seed alone; the same seed replays it. What a fault strikes depends
// on what is under way at that moment, which no seed decides on a real machine.
//
// # Guarantees
//
// What is checked, at a quiet point after each round of twenty seconds and at the end:
//
//   - The store of every informer equals what the server lists, by UID and resourceVersion.
//   - Every handler was told a history that makes sense and ends in that state: nothing is added twice or updated from
//     a state that was not told, no version is older than one before, no deletion is lost, nothing comes after the
//     deletion of an object, no two callbacks run at the same time.
//   - Every namespace that was deleted is gone, or something holds it, and its conditions say so.
//   - No object is left of a namespace that has gone. And at no time was a namespace finalized that had content: each
//     request to namespaces/finalize is held at the door until the server was asked what is in the namespace.
//   - The processes run, have few goroutines, open files and little memory, and their logs have no error and no panic.
//     Asked to end, they end in time.
//   - When the informers have ended no goroutine, no request and no connection is left of them.
//
// One more process, with default settings and a log of its own, has its connections go dead without a word: it has to
// notice within a minute, and to delete what was deleted meanwhile.
//
// # Goroutines
//
// [Run] owns all goroutines and processes and returns when they have ended.
//
// # Failure
//
// A run in which something did not hold returns a [*Failure] with the seed and everything that was found. Its directory,
// which is kept, has the logs of every program, the plan, and the report.
//
// # Testing
//
// The tests of this package break each rule on purpose and see to it that the check finds it. They need no control plane.
//
// Next: package contract.
package chaos
