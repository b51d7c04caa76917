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
//
// # Links
//
// A [Link] holds the faults of a set of connections and breaks them the way networks do: open the
// connections with [Link.Dial], and break and heal them while they are in use. Over a [Pipe] this
// works in a testing/synctest bubble, where an hour of silence takes no time; a [Proxy] does it to
// TCP connections of a real server, below TLS. Faults affect received bytes at the wrapped end, and
// a black hole sent bytes too. They apply to open and later connections, except [Link.Cut] and
// [Link.HalfClose], which happen once. Close and deadlines work with any fault. Bytes arrive in
// order and without gaps: as with TCP, a connection that has lost bytes never delivers again. A cut
// connection fails with ECONNRESET at both ends, a refused dial with ECONNREFUSED (with ECONNRESET
// behind a proxy), and a dial into a black hole with ETIMEDOUT.
package chaos
