// Package discovery discovers the groups, versions and resources of an API server.
//
// # Concept
//
// An API server serves groups ("apps"), each in one or several versions ("apps/v1"), each with
// resources ("deployments") that have a kind, verbs, and a scope.
//
// Servers since 1.26 return everything in two documents, at /api for the core group and at /apis
// for all others (aggregated discovery, KEP 3352, apidiscovery.k8s.io v2 and v2beta1). Older ones
// list groups there, and have one more document for each group version. [Client] requests the
// aggregated form so that an old server answers with the list, and decides for /api and /apis
// separately.
//
// # Guarantees
//
// Results are in the server's order. Each preferred resource is listed once, in the preferred
// version of its group if that has it, else in the first version that does.
//
// Group versions that cannot be discovered (an APIService without a backend) do not hide the
// others: they are in an [*ErrGroupDiscoveryFailed] beside the result, whose text is that of
// Kubernetes. With an old server the core group may be among them, so check Groups if you depend on
// one. A server that has just started lists no custom resources yet: see Config.OnlyWhenReady. If
// /api or /apis itself fails, there is no result.
//
// # Failure
//
// Errors are those of package restclient (a [*restclient.DecodeError] for a login page, say),
// [*ErrGroupDiscoveryFailed] and [*NotReadyError].
//
// Next: package nsctl
package discovery
