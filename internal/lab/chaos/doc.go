// Package chaos injects many faults at once, for ten minutes of virtual time, and checks that
// nothing is lost. A seed decides everything: NewPlan draws subjects, writes and faults from it
// before anything runs, and play carries the plan out in a testing/synctest bubble, where
// connections are pipes and ten minutes take half a second. After each storm the faults end, and
// within minutes the system must converge to the state of the server. The checks compare with the
// journal of the server's store, not with the data that clients received:
//
//   - Every informer's store equals the server, in versions and in content.
//   - Every handler saw a valid history of each key (see [History]) that ends there.
//   - No two workers hold the same key, and no two passes the same namespace.
//   - No namespace with content lost the controller's finalizer.
//   - Queues and backlogs become empty, all deletions end, and the rate limiter has forgotten all
//     failures.
//   - At the end no connection, request, watch, goroutine or timer is left.
//
// NewControllersPlan draws another kind of run: one process with all controllers of the project, on
// a server without its own garbage collector. Then workloads must have their pods and virtual
// machines their machines; no object may lack all its owners; and each type has one watch. The same
// seed gives the same plan, but not exactly the same run, because the Go runtime decides the order
// of goroutines and maps. One processor (GOMAXPROCS=1) and one run at a time keep the differences
// small; the search for leaks needs an otherwise idle process. The tests also break a subject for
// each rule and expect the checks to find it. "make chaos" plays many seeds; a test in
// upstream/apiserver/served disturbs informers of a real control plane, with the same [History].
package chaos
