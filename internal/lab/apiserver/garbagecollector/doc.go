// Package garbagecollector deletes what has lost its owners, and answers for the finalizers foregroundDeletion and orphan.
//
// # Concept
//
// An object can name its owners in metadata.ownerReferences, by UID. The API server does nothing with them. A controller
// does, the garbage collector of kube-controller-manager, and this is a small one for the server in memory. The three
// propagation policies of a DELETE are three ways of speaking to it:
//
//	Background   the owner goes at once; the collector finds that its dependents name an owner that is not there
//	Foreground   the server adds the finalizer foregroundDeletion; the collector deletes the dependents, and takes the
//	             finalizer away when none is left that says blockOwnerDeletion
//	Orphan       the server adds the finalizer orphan; the collector takes the owner out of its dependents' references, and
//	             then the finalizer away
//
// What is done with an object is decided by looking at it and at its owners as they are now, never by what an event said:
//
//	an owner exists                     the object stays; references to owners that are absent are taken out
//	all are absent, or being deleted    the object is deleted: in the foreground if an owner waits for it and it has
//	in the foreground                   dependents itself, otherwise as its own finalizers say
//
// An owner is absent if its kind is known and there is no object of its name with the UID of the reference. Owners are
// looked for in the namespace of the dependent, or among the objects of the cluster. If the kind is not known nothing is
// done, since the owner may well exist. An object of the cluster that names an owner in a namespace names none that can be
// found, and is left alone.
//
// # Guarantees
//
//   - Nothing is deleted that has an owner that exists, and nothing without owner references ever. The object that was
//     looked at is deleted, with that UID and in that version, or none.
//   - The finalizers are taken away when the dependents have been dealt with that existed when the owner was marked.
//   - Two owners that wait for each other's going (a circle of blocking references) do not wait for ever.
//
// # Goroutines
//
// [Collector.Run] is one, the caller's. It starts one for each resource, which watches it, and one worker, and has joined all
// of them when it returns.
//
// # Failure
//
// A write that is refused is repeated with growing delays, from the object as it is then. A watch that has fallen out of the
// window begins anew, and everything known of its resource is looked at again.
//
// # Testing
//
// collector_test.go deletes owners in all three ways over a registry; quick_test.go makes random forests of owners and
// checks what is left in the end.
//
// Next: package kubelet
package garbagecollector
