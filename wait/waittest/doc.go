// Package waittest is the behaviour of package wait written down as tests.
//
// # Concept
//
// [Run] takes an [Implementation] and tests it in testing/synctest bubbles, in
// which time is exact: "the third run starts 26 seconds after the first" is an
// equality and not a tolerance. The same suite runs against package wait and,
// in the module upstream, against k8s.io/apimachinery/pkg/util/wait. That
// second run is what shows that the suite describes Kubernetes and not a wish.
//
// # Guarantees
//
// Where this project deliberately differs there is a [Capability]. apimachinery
// lacks it, with a reason, and the suite then asserts apimachinery's behaviour.
// Nothing is skipped.
//
// # Goroutines
//
// Every bubble ends only when all goroutines in it have returned, so each test
// also shows that nothing is left behind.
//
// # Failure
//
// Tests of panics turn the process-wide crash switch. Do not run the suite in
// parallel with other users of it.
//
// # Testing
//
//	func TestContract(t *testing.T) {
//		waittest.Run(t, waittest.Implementation{Name: "mine", ...})
//	}
//
// Next: package queue
package waittest
