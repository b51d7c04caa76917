// Package e2e runs namespace controllers against a genuine control plane and checks them through the
// API alone. A [Subject] is a namespace controller: "orrery run", or kube-controller-manager with
// only its namespace controller. [StartCluster] starts a control plane and the subject beside it, as
// a process with the rights of the built-in controller. A scenario (scenarios_test.go) is a row of
// content, hindrance, expected report and the party that finishes. It records facts: each condition
// with reason and message, what is left of each type, what was deleted before what. The facts must
// equal the recorded ones of the original (testdata/original.json) but for the differences in the
// scenario's row. "make e2e" builds the programs in bin/ and runs the tests; one scenario is: go test
// ./e2e -v -run TestScenarios/pods-first. Scenarios wait for conditions, with a deadline that only a
// failure reaches.
package e2e
