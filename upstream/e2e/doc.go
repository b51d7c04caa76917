// Package e2e runs namespace controllers against API servers, two by two, and checks what they do through the API alone.
//
// # Concept
//
// A [Subject] is a namespace controller: this project's ("orrery run") or the original, kube-controller-manager running
// that one controller. A [Platform] is a kind of server: a genuine control plane, or this project's server in memory
// ("lab serve"). [StartCluster] starts a server without any namespace controller and the subject as a process beside
// it, with the rights of the built-in controller and no others. The same test then runs with each subject on each
// platform, and what they leave behind can be compared.
//
// [RunOfficialSpecs] runs Kubernetes' own specs for namespaces against such a cluster.
//
// The scenarios are tests in files of their own, one for each theme:
//
//	scenario_content_test.go      what a namespace can hold: nothing, much, custom types; many namespaces; an old name
//	scenario_conditions_test.go   what holds a namespace up and what its conditions say: finalizers, policies, webhooks
//	scenario_pods_test.go         pods go first
//	scenario_incomplete_test.go   APIs that cannot be discovered, rights that are missing
//	scenario_disturbance_test.go  controller killed, API server restarted and crashed, history forgotten
//	scenario_requests_test.go     what a namespace costs
//	scenario_run_test.go          the program: rehearsal, watches over websocket, signals
//	scenario_mistakes_test.go     wrong certificates, credentials, rights and addresses
//
// A scenario notes facts on its way: each condition with reason and message, what is left of each type, what went
// before what. The facts of both subjects must be the same, on each platform, and those of both platforms, with each
// subject, but for the differences that are listed by name in differences_test.go, and each of those must show. So a
// difference that nobody intended fails the test, and so does one that is documented and no longer true.
//
// What gets into a controller's way is made by each platform's own means (hindrances_test.go): policies, webhooks and
// roles on the genuine server, faults on the one in memory. The few scenarios that only the genuine server can serve are
// listed in platforms_test.go, with what they use of it.
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
// The tests need bin/orrery, bin/lab, bin/controlplane and bin/conformance; "make e2e" in the repository's root builds them and
// runs the tests. One scenario, with the facts that it noted: go test ./e2e -v -run TestPodsGoFirst; one of its four pairings:
// -run TestPodsGoFirst/in-memory/orrery.
//
// Scenarios wait for conditions, with a deadline that only a failure reaches. When one fails it shows the namespace and
// what the subject said about it.
//
// Next: package queue, where the reading order of the house begins.
package e2e
