// Package discovery asks an API server what it serves.
//
// # Concept
//
// An API server serves groups ("apps"), each in one or several versions ("apps/v1"), each with resources
// ("deployments") that have a kind, verbs, and objects that live in namespaces or not. Custom resource definitions and
// APIServices add to that while the server runs, so a program that wants to treat every kind of object, as the
// namespace controller does, has to ask.
//
// Servers since 1.26 answer with everything in two documents, at /api for the core group and at /apis for all others
// (aggregated discovery, KEP 3352, apidiscovery.k8s.io v2 and v2beta1). Older ones list groups there, and have one more
// document for each group version. [Client] asks for the first in a way in which an old server understands the
// second, and it decides for /api and /apis separately.
//
// [Cached] remembers one of the answers, the preferred namespaced resources, and knows when it may be used again.
//
// # Guarantees
//
// Results are in the server's order, so the same server gives the same result. A preferred resource is there once, in the
// preferred version of its group if that has it, else in the first version that does.
//
// Group versions that cannot be discovered (an APIService points at something that is not there) do not hide the
// others: they come as [*ErrGroupDiscoveryFailed] beside the result. Its text is that of Kubernetes, the same each time
// the same groups fail, fit for the condition of a namespace. When /api or /apis itself fails there is no result at
// all.
//
// A caller who must not go on without certain groups has to look into [ErrGroupDiscoveryFailed].Groups: the core group
// may be among them on an old server.
//
// A server that has just been started lists what it knows so far as if that were all, custom resources missing
// (kube-apiserver does, for a fraction of a second and more with many of them). Config.OnlyWhenReady keeps such an
// answer from being taken for the whole.
//
// # Goroutines
//
// [Client] starts some for the documents of an old server, and they have ended when the method returns. [Cached] has
// one while the server is being asked, shared by all callers who wait, and it is cancelled when the last of them has
// left.
//
// # Failure
//
// Errors are those of package restclient, [*ErrGroupDiscoveryFailed], [*NotReadyError], or [*UnexpectedAnswerError] for a server that
// answers with something else (a login page, say). Package restclient has repeated what is worth repeating; here a
// discovery is repeated only if a group vanished in the middle of it.
//
// # Testing
//
// The tests speak to a server over net.Pipe in synctest bubbles: clocks that differ, callers that leave and answers that
// come late take no time.
//
// Next: package nsctl
package discovery
