// Package secondcontroller finds out whether a cluster has a namespace controller that works already.
//
// # Concept
//
// Two namespace controllers do not harm a cluster, but nobody can tell which of them did the work, and most people who start a second
// one do so by mistake: kube-controller-manager has one of its own. No API says whether it is on. So this package collects evidence,
// as somebody would who looks at a cluster with kubectl:
//
//	the server's version     the server in memory says whether a controller came with it
//	pods in kube-system      the command line of kube-controller-manager has --controllers, where its pod can be seen
//	namespaces               the status of one that is being deleted was written a moment ago, by kube-controller-manager
//	its Lease                somebody renews it: kube-controller-manager is alive, and its command line cannot be seen
//	a canary                 a new namespace is deleted, and within a few seconds somebody else has begun to take it down
//
// [Look] does all but the last, and only reads. [Try] does the last. Each ends with a [Verdict] and how it is known. [Sweep] takes
// away what processes have left behind that were killed in the middle of Try.
//
// # Guarantees
//
// Look writes nothing. Try creates one namespace, whose name begins with [CanaryPrefix], and deletes it; whichever controller works
// on the cluster takes it down. It makes none that it could not delete, and deletes it also if the answer to its creation is lost or
// the caller is stopped meanwhile; what is made more than a second later, or by a process that is killed or loses its Lease, is left
// to Sweep. A right that is missing is no error: there is one thing less to be known. Moments that the cluster has written down are
// compared with the clock of the API server, which answers with it, never with this machine's.
//
// # Goroutines
//
// None of its own. Both functions return when their context ends.
//
// # Failure
//
// Whatever cannot be asked counts as unknown, and [Unknown] is a verdict: it is the caller who decides what to do then. An error is
// returned only when the context has ended.
//
// # Testing
//
// The tests run over the API server in memory in a synctest bubble, with another controller played by the test. Those on a genuine
// kube-controller-manager are in upstream/e2e.
//
// Next: package rbac
package secondcontroller
