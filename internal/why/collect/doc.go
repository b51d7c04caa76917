// Package collect reads the evidence for package why from an API server. It sends GET requests and
// SubjectAccessReviews, and writes nothing.
//
//	wave 0   the namespace; one that does not exist or is not terminating ends here
//	wave 1   discovery, and every type that can be listed, in pages of 500, metadata only; pods whole
//	wave 2   after the interval: the namespace, discovery if it was incomplete, the first page of what held something
//	wave 3   version, APIServices, CustomResourceDefinitions, kube-controller-manager, the Leases of kube-system
//	wave 4   as both samples suggest: webhooks, policies, Services, nodes, reviews
//
// At most eight requests run at a time, and each has five seconds. A failed request is evidence,
// not an error: Collect goes on, and the report names what was not read. Collect fails only if the
// first request, for the namespace, gets no answer, or if its context ends.
//
// Collect starts goroutines and returns when all have ended.
//
// Next: cmd/orrery
package collect
