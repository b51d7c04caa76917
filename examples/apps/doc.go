// Package apps holds what the replica set controller and the deployment controller share: the types
// of apps/v1 as far as they read them, and ownership.
//
// # Concept
//
// Kubernetes builds its workloads in layers. A Deployment owns ReplicaSets, a ReplicaSet owns Pods,
// and each layer has a controller that manages the layer below:
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
// The controllers create whole objects, and change them by patches only. So the types here need
// only the fields that the controllers read, and a write cannot lose the others.
//
// # Guarantees
//
// An object has at most one controller: the server refuses an adoption if another owner was faster.
// Before something is adopted or created, [IsAlive] asks the server whether the owner still exists.
// Objects of an informer's store are not changed.
//
// # Failure
//
// [Claim] returns the errors of its writes, joined. It ignores objects that were deleted or adopted
// by another owner meanwhile.
//
// # Testing
//
// Ownership is tested with a client that records patches, everything else with tables.
//
// Next: package examples/replicaset
package apps
