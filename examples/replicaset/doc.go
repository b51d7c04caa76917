// Package replicaset is the replica set controller: it keeps as many pods running as each ReplicaSet asks for.
//
// # Concept
//
// One pass compares two numbers and makes them equal:
//
//	informer of sets ── handlers ─┐                      claim the pods: adopt, release
//	                              ├─▶ queue ─▶ worker ─▶ manageReplicas: create or delete what is missing or too much
//	informer of pods ── handlers ─┘                      status
//
// The hard part is that the second number comes from the informer's store, which is behind. A pass that creates three pods
// and is repeated before the watch has told of them counts none, and creates three more. So the controller remembers what it
// has asked for, see expectations, and creates and deletes nothing for a set until the informer has shown all of it.
// docs/learn/replicasets-and-deployments.md runs the wrong version and counts.
//
// # Guarantees
//
// The controller never creates a pod because it has not heard of one that it created. Pods are deleted in an order that
// costs least: those first that do not run. A pod that gets another controller, or labels that the selector does not match,
// is left alone and replaced.
//
// # Goroutines
//
// [Controller.RunWithin] owns the workers. A worker creates and deletes pods of one set concurrently, and waits for all of them.
//
// # Failure
//
// Creations come in batches of 1, 2, 4 and so on, and the first batch with an error is the last: a quota that is full costs
// one refused request and not five hundred. The set gets the condition ReplicaFailure, and the pass is repeated with
// growing delays. If an event that is waited for never arrives (the pod came and went while the watch was down), the
// expectation ends after five minutes.
//
// # Testing
//
// Against the API server in memory, in virtual time: with a watch that is late, and stopped at every request.
//
// Next: package examples/deployment
package replicaset
