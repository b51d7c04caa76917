// Package debugserver is the window into a running process: metrics, health, and the state of every gear, over HTTP.
//
// # Concept
//
//	/metrics        for Prometheus
//	/livez          does the process work? If not it should be restarted
//	/readyz         does it know the cluster?
//	/healthz        the same as /livez, for whoever asks in the old way
//	/debug/orrery   the snapshots of all gears as one JSON document
//	/debug/pprof/   profiles of the Go runtime, if they are switched on
//	/               a list of these and of the gears
//
// Health is a list of checks with names, and is asked for and answered as with kube-apiserver: "ok", or with ?verbose a
// line for each check; ?exclude=NAME leaves one out; /readyz/NAME asks one. Unlike there a check that fails says why.
//
// # Guarantees
//
// Nothing can be changed through it: other methods than GET and HEAD are refused (but for the table of symbols of
// pprof, which is a question as well). What costs memory to answer is answered a few times at once and no more, and of long
// lists /debug/orrery shows the first 500 elements, all with ?all.
//
// A request that names another host than the loopback address or Config.Address, or comes from another page, is refused: see
// package hostcheck. There is no login and no encryption. So it listens on the loopback address unless it is told otherwise;
// and whoever can reach it learns the names of namespaces from /debug/orrery, though no secrets, and can cost the process some time.
//
// # Goroutines
//
// [Start] starts one that accepts, and net/http one for each connection. [Server.Stop] ends them.
//
// # Failure
//
// An address that cannot be listened on is a [*ListenError] of Start. Afterwards nothing that goes wrong here harms the
// process.
//
// # Testing
//
// A real server on a free port is asked as curl, kubelet and Prometheus ask it; goleak shows that nothing is left.
//
// Next: package internal/observe/logs
package debugserver
