// Package deletion compares whole programs at what they are for: "orrery run" and kube-controller-manager with its
// namespace controller delete namespaces on a real control plane.
//
// # Concept
//
// One control plane, without a namespace controller, serves all runs. In each run one side's controller is started as a
// process of its own, as the same user, deletes namespaces that were made for the run, and is stopped. What it asked for,
// and when, is read from kube-apiserver's audit log: neither side's own idea of its speed counts.
//
//	administrator ── creates and deletes namespaces ──▶ kube-apiserver ──▶ audit log ──▶ seconds, requests
//	                                                      ▲       ▲
//	                                      controller ─────┘       │
//	                                      controller ──▶ relay ───┘  5 ms later
//
// # Guarantees
//
// A run returns figures only if everything that was to go is gone and nothing else has changed. Both sides get the same
// namespaces, the same rights, and their default flags.
//
// # Goroutines
//
// The relay has those of its connections, which [Runner.Stop] ends, with the control plane and its processes.
//
// # Failure
//
// A controller that dies, or that has not deleted the namespaces after three minutes, fails the run, and Stop reports
// components of the control plane that died.
//
// # Testing
//
// What is read from logs and from /proc is tested with recorded lines, the relay with connections, and the whole with a
// quick run of both sides on a control plane.
//
// Next: package compare
package deletion
