// Package registry knows what an API server does with objects: the verbs, over the versioned store.
//
// # Concept
//
// A request that has been read and is allowed ends here. What happens to it depends on very little: on the verb, and on a
// few hooks of the type ([resources.Strategy]). Everything else is the same for a Pod and for a custom resource that was
// defined a second ago:
//
//	create   namespace open? -> prepare -> check (422) -> admission -> store, if the name is free (409)
//	update   version as seen? (409) -> keep what is the server's -> prepare -> check -> admission -> swap, or look again
//	patch    like update, made anew on the latest state if somebody else was faster
//	delete   preconditions (409) -> admission -> mark, or remove if nothing holds it
//	list     a view of one version, selected, in pages that all show that version
//	watch    a position in the history, each change seen through the selection
//
// A write is decided on a state that was read without any lock, and made only if that state is still there: the store
// swaps, or says that somebody was faster, and then everything is looked at again. Optimistic concurrency, which clients know
// as the 409 on an old resourceVersion, is the same thing one floor up.
//
// # Deletion
//
// To delete is to ask for an end. An object that something holds is only marked: with a deletionTimestamp, which nobody takes
// back. These hold it:
//
//   - metadata.finalizers: somebody has to do something first. The last one to go takes the object with it, in the same
//     update. New ones cannot be added any more. Two belong to the garbage collector: [FinalizerForeground] (dependents first) and
//     [FinalizerOrphan] (dependents forget their owner first).
//   - a grace period: a pod's containers get the time until the deletionTimestamp, and go with a second DELETE without
//     grace, which the kubelet sends.
//   - a namespace's content. namespaces.go is where the server's half of the two articles on namespaces stands, with the
//     passages: the first DELETE stamps and sets the phase, nothing is created in it any more, and both lists of finalizers must
//     be empty before it goes. That it is empty by then is the controller's half (package nsctl).
//   - a definition's objects: a CustomResourceDefinition goes after the last object of its resource (custom.go).
//
// # Guarantees
//
//   - No object disappears with a finalizer. No namespace goes with a finalizer in either list.
//   - Nothing is created in a namespace that is marked: the condition is checked in the same instant as the write, so
//     that what a controller has found empty stays empty. (kube-apiserver asks a cache, and so its controller waits and
//     looks twice.)
//   - A write that changes nothing consumes no version and tells no watcher. A dry run answers like the real thing and
//     stores nothing.
//   - All pages of a list show the version of the first. A watcher that applies its events to a list of the same selection
//     has what a later list shows.
//   - Codes, reasons and messages are those of kube-apiserver 1.36.
//
// # Goroutines
//
// None. Every method works on the goroutine of its caller, also where kube-apiserver leaves things to a controller: the
// names of custom resources are accepted, and their objects deleted with them, before the request is answered.
//
// # Failure
//
// Errors are [*api.StatusError] values for the client, or the error of the caller's context. A watch tells by its events
// what goes wrong after it has begun. [Config] has hooks for failures that are wanted: admission that refuses, conflicts,
// replicas that lag.
//
// # Testing
//
// Tables of answers that a kube-apiserver gave to the same requests; a model of the life of namespaces and finalizers that
// random histories are compared with; watches compared with lists.
//
// Next: package kubelet
package registry
