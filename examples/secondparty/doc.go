// Package secondparty is a second party that keeps deleted namespaces until its own content is
// gone, as OpenShift is in Kubernetes' design document "Namespaces".
//
// # Concept
//
// The second party keeps objects of its own types for namespaces, in a storage of its own that the
// API server knows nothing of: a directory. Its token in spec.finalizers keeps a namespace until
// that content is gone.
//
//	spec.finalizers                           phase
//	["openshift.com/origin", "kubernetes"]    Active         created with the second party's token
//	["openshift.com/origin", "kubernetes"]    Terminating    DELETE: both parties see the deletion timestamp
//	["openshift.com/origin"]                  Terminating    the first has finished; in the other order its token is left
//	[]                                        Terminating    the namespace goes in this state
//
// Program second-party runs it.
//
// Both parties are the same code: an [nsctl.Controller] with an [nsctl.Deleter], textbook or fast.
// [DeleterConfig] has what is different: the token, the content client and the types. A namespace
// gets the token when it is created; later only the subresource finalize can add it:
//
//	apiVersion: v1
//	kind: Namespace
//	metadata: {name: development}
//	spec: {finalizers: [openshift.com/origin]}
//
// # Guarantees
//
// The second party deletes nothing but its own content and removes nothing but its own token. Phase
// and conditions are the first party's: it writes neither. Content of a namespace without the token
// stays behind when the namespace goes.
//
// # Failure
//
// A storage that fails makes the pass fail, and the controller repeats it. Until it succeeds the
// namespace stays in Terminating. A user who empties spec.finalizers by hand lets the namespace go
// and leaves the content of both parties behind: the next namespace of that name has it.
//
// Next: package cmd/orrery
package secondparty
