// Package debugserver serves the metrics, health and state of a process over HTTP.
//
// # Concept
//
//	/metrics        for Prometheus
//	/livez          does the process work? If not, it should be restarted
//	/readyz         does it know the cluster?
//	/healthz        the same as /livez, under its old name
//	/debug/orrery   the snapshots of all gears as one JSON document
//	/debug/pprof/   profiles of the Go runtime, if enabled
//	/               a list of these pages and of the gears
//
// Health is a list of named checks with the interface of kube-apiserver: the answer is "ok", or
// with ?verbose a line for each check; ?exclude=NAME excludes one; /readyz/NAME runs one. Unlike
// kube-apiserver, a failed check gives its reason.
//
// # Guarantees
//
// The server is read-only: it refuses other methods than GET and HEAD, except for the symbol table
// of pprof. It limits concurrent answers of costly pages. /debug/orrery shows the first 500
// elements of long lists, or all with ?all.
//
// It refuses requests that name another host than the loopback address or Config.Address, or that
// come from another page, see package hostcheck. There is no login and no encryption, so the
// default address is the loopback one. A client that reaches it learns the names of namespaces from
// /debug/orrery, but no secrets, and can cost the process some time.
//
// # Goroutines
//
// [Start] starts one that accepts connections, and net/http one for each of them. [Server.Stop]
// ends them.
//
// # Failure
//
// Start returns a [*ListenError] if it cannot listen. Later failures do not affect the process.
//
// # Testing
//
// Tests send the requests of curl, the kubelet and Prometheus to a real server on a free port;
// goleak checks that nothing is left.
//
// Next: package internal/observe/logs
package debugserver
