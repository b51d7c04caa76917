// Package e2e runs namespace controllers against API servers and checks them through the API alone.
// A [Subject] is a namespace controller: "orrery run", or kube-controller-manager with only its
// namespace controller. A [Platform] is a kind of server: a genuine control plane, or "lab serve".
// [StartCluster] starts a server and the subject beside it, as a process with the rights of the
// built-in controller. Each scenario runs with each subject on each platform and records facts:
// each condition with reason and message, what is left of each type, what was deleted before what.
// The facts must be equal but for the differences listed in differences_test.go, each of which must
// appear. Obstacles are made by each platform's own means (hindrances_test.go): policies, webhooks
// and roles on the genuine server, faults on the one in memory. platforms_test.go lists the
// scenarios that need the genuine server. "make e2e" builds the programs in bin/ and runs the
// tests; one scenario in one of its four pairings is: go test ./e2e -v -run
// TestPodsGoFirst/in-memory/orrery. Scenarios wait for conditions, with a deadline that only a
// failure reaches.
package e2e
