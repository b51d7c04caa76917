// Package e2e runs namespace controllers against a genuine control plane and checks what they do through the API alone.
//
// # Concept
//
// A [Subject] is a namespace controller: this project's ("orrery run") or the original, kube-controller-manager running
// that one controller. [StartCluster] starts a control plane without any namespace controller and the subject as a
// process beside it, with the rights of the built-in controller and no others. The same test then runs against each
// subject, and what they leave behind can be compared.
//
// [RunOfficialSpecs] runs Kubernetes' own specs for namespaces against such a cluster.
//
// # Guarantees
//
// The subject is the only namespace controller of its cluster. It may be killed and started again; nothing else is
// touched by that.
//
// # Goroutines
//
// Those of package controlplane, for the subject's process too. [Cluster.Stop] ends them all.
//
// # Failure
//
// A subject or a component that ends without having been asked to fails the test at its end: Stop returns a
// [controlplane.ExitError] with the last lines that it printed.
//
// # Testing
//
// The tests need bin/orrery, bin/controlplane and bin/conformance; "make e2e" in the repository's root builds them and
// runs the tests.
//
// Next: package queue, where the reading order of the house begins.
package e2e
