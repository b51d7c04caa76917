// Package deployment is the deployment controller: it keeps one ReplicaSet for each version of a
// pod template, and moves the pods from the old ones to the new one.
//
// # Concept
//
// A deployment owns replica sets, and they own the pods. The set whose template equals the
// deployment's is the new one; all others are old. A rollout scales the new set up and the old ones
// down, within two bounds:
//
//	all pods          <= replicas + maxSurge
//	available pods    >= replicas - maxUnavailable
//
// Each pass takes one step and reports. The step changes a set, the status of that set changes, and
// this event queues the next pass. The progress of a rollout is read from the sets, so a new
// controller continues where the last one died.
//
// The name of a new set contains a hash of its template, so a second creation fails with
// AlreadyExists. That is why this controller needs no expectations. Old sets stay, scaled to zero,
// as the history that "kubectl rollout undo" copies from.
//
// # Guarantees
//
// The two bounds hold at every step; pods that are being deleted do not count. A step begins when
// the replica set controller has reported the result of the one before. The server refuses it if
// the set has changed since it was read.
//
// # Goroutines
//
// [Controller.RunWithin] owns the workers.
//
// # Failure
//
// A pass that fails is reported, and repeated with growing delays. After progressDeadlineSeconds
// without progress the deployment gets the condition Progressing=False, and the rollout continues.
//
// # Testing
//
// The tests run both controllers in virtual time and kill them at every request, while an observer
// counts pods.
//
// Next: package controller
package deployment
