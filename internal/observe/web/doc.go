// Package web has the two servers of a process over HTTP: the debug server, with its metrics,
// health and state, and the view, a page that shows what happens inside, live or from a recording
// of package trace.
//
// # Concept
//
// [StartDebug] serves
//
//	/metrics        for Prometheus
//	/livez          does the process work? If not, it should be restarted
//	/readyz         does it know the cluster?
//	/healthz        the same as /livez, under its old name
//	/debug/orrery   the snapshots of all gears as one JSON document
//	/debug/pprof/   profiles of the Go runtime, if enabled
//
// Health is a list of named checks with the interface of kube-apiserver: the answer is "ok", or
// with ?verbose a line for each check; /readyz/NAME runs one. Unlike kube-apiserver, a failed check
// gives its reason.
//
// [StartView] serves
//
//	/            the page: plain modules, no build step, nothing from another host
//	/socket      the run as it goes on: lines of a recording, in batches
//	/trace       the same over plain HTTP, for programs
//	/recording   a recording, if the server shows one
//	/code        the function of each event, see [Code]
//
// The page draws the states of the lines, which it keeps in a worker: the server sends what a file
// has. [HTML] puts page and recording into one file.
//
// # Guarantees
//
// The servers answer GET and HEAD alone, except for the symbol table of pprof. They refuse other
// names than loopback ones (and DebugConfig.Address) in the Host header, and other origins, see
// program.Guard. The page may load nothing from elsewhere.
//
// The view listens on the loopback interface only, and everything but the page's own files needs
// the random token of its address. A browser never slows the run: each reads the history at its own
// pace. One that falls behind the history goes on with a later state.
//
// The debug server has no login and no encryption, so its default address is the loopback one. A
// client that reaches it learns the names of namespaces from /debug/orrery, but no secrets, and can
// cost the process some time. It shows the gears to one client at a time.
//
// # Goroutines
//
// Each server starts one that accepts connections, and net/http one for each of them; each socket
// has a reader and a writer. Stop ends them all and waits for them.
//
// # Failure
//
// StartDebug returns an error if it cannot listen, StartView if the port is taken and was asked
// for; otherwise it takes a free one. Later failures end a connection, never the run.
//
// # Testing
//
// Tests send the requests of curl, the kubelet and Prometheus to a real server on a free port;
// goleak checks that nothing is left. The page is tested in Chromium, which reports every request
// that it makes. See page_test.go.
//
// Next: package internal/observe/logs
package web
