// Package api is the slice of the Kubernetes API that this project speaks, as plain Go types.
//
// # Concept
//
// Kubernetes objects are JSON documents with a common head: a kind, an API version and an [ObjectMeta]. A
// controller needs very little of the rest. This package declares that little by hand: the head, the
// [Namespace] and as much of a [Pod] as decides how long it takes to end, the shapes for objects of which only
// the head matters ([PartialObjectMetadata]) or nothing is known in advance ([Unstructured]), the list and watch
// envelopes, the discovery documents, and the [Status] that an API server answers with when it refuses.
//
// # Guarantees
//
// The types are data: no method changes its receiver unless its name says so, nothing is cached, nothing starts
// a goroutine. Objects that come out of an informer's store are shared by everybody who reads it and must not be
// changed; make a copy first.
//
// A [Namespace] read from a server can be written back through the status and finalize subresources: metadata
// that this project has no use for (see [ManagedFields]) is carried along, and so are fields of a newer API that it does
// not know. An [Unstructured] is written as it was read, large numbers included. A [Pod] is a part of a pod and
// a [PartialObjectMetadata] a part of anything: they are for reading.
//
// # Goroutines
//
// None. All functions may be called from any goroutine.
//
// # Failure
//
// A refused request is a [*StatusError]. What to do about it is told by the Is... functions ([IsNotFound],
// [IsConflict], [IsExpired] ...), never by reading its text; one table maps HTTP codes and reasons.
//
// # Testing
//
// Answers taken down from a real API server (testdata) are decoded, written and compared. Every row of the
// classification is asked every question.
//
// Next: package restclient
package api
