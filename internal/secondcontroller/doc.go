// Package secondcontroller reads whether a controller of kube-controller-manager already works in a cluster.
//
// # Concept
//
// Two namespace controllers do not harm a cluster, but it is impossible to tell which of them did the work; two controllers of
// replica sets create too many pods. Most people who start a second one do so by mistake: kube-controller-manager has one. No API
// says whether it is on. [Look] collects evidence, as a person
// would with kubectl:
//
//	the server's version     the server in memory says whether a controller came with it
//	pods in kube-system      the command line of kube-controller-manager has --controllers, where its pod can be seen
//	namespaces               kube-controller-manager wrote the conditions of a namespace in deletion a moment ago
//	its Lease                kube-controller-manager renews it, and its command line cannot be seen
//
// # Guarantees
//
// Look sends nothing but GET requests. A missing right is no error: there is one piece of evidence less. Times that the cluster has
// written down are compared with the clock of the API server, which answers with it, never with this machine's.
//
// # Goroutines
//
// None. Look returns when its context ends.
//
// # Failure
//
// What cannot be read is unknown, and [Unknown] is a verdict: the caller decides what to do then. An error is returned only when
// the context has ended.
//
// # Testing
//
// The tests run over the API server in memory in a synctest bubble, with another controller played by the test. Those with a genuine
// kube-controller-manager are in upstream/e2e.
//
// Next: package rbac
package secondcontroller
