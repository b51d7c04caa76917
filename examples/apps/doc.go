// Package apps holds what the replica set controller and the deployment controller share: the types of apps/v1 as far as
// they read them, and ownership.
//
// # Concept
//
// Kubernetes builds its workloads in storeys. A Deployment owns ReplicaSets, a ReplicaSet owns Pods, and each storey has a
// controller that looks one storey down:
//
//	Deployment "web"                     which template, how fast to change
//	  └─ ReplicaSet "web-7d4b9c"         how many
//	       ├─ Pod "web-7d4b9c-x2vql"
//	       └─ Pod "web-7d4b9c-8kzt5"
//
// The link is metadata.ownerReferences of the lower object, with one entry at most that has controller: true. The labels
// say which objects an owner may take: [Claim] adopts orphans that the selector matches, and releases objects that it no
// longer matches.
//
// The controllers never write a whole object back, except one that they create. Every change is a patch of the fields that
// it is about, so types need only the fields that are read here, and nothing else can be lost.
//
// # Guarantees
//
// An object has one controller: adoption is refused by the server if another owner was faster, and is tried only after a
// read from the server has shown that the owner still exists. Objects of an informer's store are not changed.
//
// # Goroutines
//
// None.
//
// # Failure
//
// [Claim] returns the errors of its writes, joined; an object that has gone or changed hands meanwhile is no error.
//
// # Testing
//
// Ownership is tested with a client that records patches, the rest with tables.
//
// Next: package examples/replicaset
package apps
