// Package replicaset is the replica set controller: it keeps as many pods running as each
// ReplicaSet asks for.
//
// # Concept
//
// One pass compares two numbers and makes them equal:
//
//	informer of sets ── handlers ─┐                      claim the pods: adopt, release
//	                              ├─▶ queue ─▶ worker ─▶ manageReplicas: create missing pods, delete surplus ones
//	informer of pods ── handlers ─┘                      status
//
// The hard part is that the second number comes from the informer's store, which lags behind the
// server. Suppose that a pass creates three pods, and the next pass runs before the watch has
// delivered them. It counts none, and creates three more. So the controller records its own
// requests as expectations, and creates and deletes nothing for a set while one is open.
// docs/learn/replicasets-and-deployments.md runs the version without them and counts pods.
//
// # Guarantees
//
// A late watch causes no surplus pod, and a set that has gone gets no new one. Surplus pods are
// deleted in the order that costs least: pods that do not run go first. A pod that gets another
// controller, or labels that the selector does not match, is left alone and replaced.
//
// # Goroutines
//
// [Controller.RunWithin] owns the workers. A worker creates and deletes pods of one set
// concurrently, and waits for all of them.
//
// # Failure
//
// Creations come in batches of 1, 2, 4 and so on, and the first batch with an error is the last: a
// quota that is full costs one refused request and not five hundred. The set gets the condition
// ReplicaFailure, and the pass is repeated with growing delays. An expected event may never arrive,
// because the pod came and went while the watch was down. The expectation then ends after five
// minutes.
//
// # Testing
//
// The tests run against the API server in memory, in virtual time. They delay the watch, and kill
// the controller at every request.
//
// Next: package examples/deployment
package replicaset
