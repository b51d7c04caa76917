// Package deployment is the deployment controller: it keeps one ReplicaSet for each version of a pod template, and moves the
// pods from the old ones to the new one.
//
// # Concept
//
// A deployment has no pods, it has sets. The set whose template equals the deployment's is the new one, all others are old.
// A rollout is a change of two numbers, the new set's replicas up and the old sets' down, within two bounds:
//
//	all pods together            <= replicas + maxSurge
//	pods that serve              >= replicas - maxUnavailable
//
// Each pass does one step and reports. The step changes a set, the set's status changes, and that event calls for the next
// pass. How far a rollout has come is read from the sets, so another controller can go on where one has died.
//
// The name of a new set is made from a hash of its template: creating it twice is refused with AlreadyExists. That is why this
// controller needs no expectations. Old sets stay, with no pods, as the history, from which "kubectl rollout undo" copies.
//
// # Guarantees
//
// The two bounds hold at every step, counted in pods that are not in deletion. A step begins when the replica set controller
// has reported what it has made of the one before, and is refused by the server if a set has changed since it was seen.
//
// # Goroutines
//
// [Controller.RunWithin] owns the workers.
//
// # Failure
//
// A pass that fails is reported, and repeated with growing delays. A rollout without progress for progressDeadlineSeconds gets
// the condition Progressing=False, and goes on all the same.
//
// # Testing
//
// In virtual time, together with the replica set controller, killed at every request, while an observer counts pods.
//
// Next: package examples/worker
package deployment
