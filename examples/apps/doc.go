// Package apps has the replica set controller and the deployment controller, with the types of
// apps/v1 as far as they read them.
//
// # Concept
//
// Kubernetes builds its workloads in layers. A Deployment owns ReplicaSets, a ReplicaSet owns
// Pods, and each layer has a controller that manages the layer below:
//
//	Deployment "web"                     which template, how fast to change
//	  └─ ReplicaSet "web-7d4b9c"         how many
//	       ├─ Pod "web-7d4b9c-x2vql"
//	       └─ Pod "web-7d4b9c-8kzt5"
//
// The lower object refers to its owner in metadata.ownerReferences, where at most one entry has
// controller: true. The owner's selector decides which objects it may take: [Claim] adopts orphans
// that the selector matches, and releases objects that it no longer matches.
//
// A pass over a set makes the number of existing pods equal to the wanted one:
//
//	informer of sets ── handlers ─┐                      claim the pods: adopt, release
//	                              ├─▶ queue ─▶ worker ─▶ manageReplicas: create missing pods, delete surplus ones
//	informer of pods ── handlers ─┘                      status
//
// The hard part is that the number of existing pods comes from the informer's store, which lags
// behind the server. Suppose that a pass creates three pods, and the next pass runs before the
// watch has delivered them. It counts none, and creates three more. So the controller records its
// own requests as expectations, and creates and deletes nothing for a set while one is open.
// docs/learn/replicasets-and-deployments.md runs the version without them and counts pods.
//
// The set whose template equals the deployment's is the new one; all others are old. A rollout
// scales the new set up and the old ones down, one step in each pass, within two bounds:
//
//	all pods          <= replicas + maxSurge
//	available pods    >= replicas - maxUnavailable
//
// The step changes a set, the status of that set changes, and this event queues the next pass. The
// name of a new set contains a hash of its template, so a second creation fails with
// AlreadyExists, and a deployment needs no expectations. Old sets stay, scaled to zero, as the
// history that "kubectl rollout undo" copies from.
//
// The controllers create whole objects, and change them by patches only. So the types here need
// only the fields that the controllers read, and a write cannot lose the others.
//
// # Guarantees
//
//   - An object has at most one controller: the server refuses an adoption if another owner was
//     faster. Before something is adopted or created, [IsAlive] asks the server whether the owner
//     still exists.
//   - A late watch causes no surplus pod, and a set that has gone gets no new one. Surplus pods
//     are deleted in the order that costs least: pods that do not run go first.
//   - The two bounds hold at every step; pods that are being deleted do not count. A step begins
//     when the result of the one before has been reported, and the server refuses it if the set
//     has changed since it was read.
//   - Objects of an informer's store are not changed.
//
// # Failure
//
// A pass that fails is reported, and repeated with growing delays. Creations come in batches of 1,
// 2, 4 and so on, and the first batch with an error is the last: a quota that is full costs one
// refused request and not five hundred. An expected event may never arrive, because the pod came
// and went while the watch was down. The expectation then ends after five minutes. After
// progressDeadlineSeconds without progress the deployment gets the condition Progressing=False,
// and the rollout continues.
//
// Next: package controller
package apps
