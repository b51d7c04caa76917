// Package api has the part of the Kubernetes API that this project uses, as plain Go types.
//
// # Concept
//
// Kubernetes objects are JSON documents with common metadata: a kind, an API version and an
// [ObjectMeta]. A controller needs little of the rest. This package declares that by hand: the
// metadata, the [Namespace] and the fields of a [Pod] that determine its termination, the types for
// objects of which only the metadata matters ([PartialObjectMetadata]) or whose fields are unknown
// ([Unstructured]), list and watch types, the discovery documents, and the [Status] of a refusal.
//
// # Guarantees
//
// The types are data. Objects from an informer's store are shared: change a copy.
//
// A [Namespace] read from a server can be written back through the status and finalize
// subresources: unused metadata (see [ManagedFields]) and unknown fields of a newer API are
// preserved. An [Unstructured] is written as it was read, large numbers included. [Pod] and
// [PartialObjectMetadata] are parts of objects: they are for reading.
//
// # Failure
//
// A refused request is a [*StatusError]. The Is... functions ([IsNotFound], [IsConflict],
// [IsExpired] ...) classify it, never its text; one table maps HTTP codes and reasons.
//
// Next: package restclient
package api
