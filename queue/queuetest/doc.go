// Package queuetest is the behaviour of package queue written down as tests.
//
// # Concept
//
// [Run] takes an [Implementation] and asserts what a work queue promises. It
// runs against the textbook form in package queue, against queue/fast, against your
// own, and, in the module upstream, against client-go's workqueue. That last run
// shows that the suite describes Kubernetes and not a wish.
//
// There are three kinds of tests:
//
//   - Scenarios in a testing/synctest bubble, where time is exact: a key that
//     is added with a delay of five seconds comes after five seconds.
//   - Properties: random operations are done on the queue and on a [spec], a
//     sequential description of what a queue is, and must give the same answers.
//   - Linearizability: goroutines work on the queue at the same time; then a
//     search finds an order of their calls in which the spec gives all the answers that
//     they saw. If there is none the queue is broken.
//
// # Guarantees
//
// Where package queue deliberately differs from client-go there is a
// [Capability]. An implementation that lacks it says so, with the reason, and
// the suite then asserts that it really behaves in the other way. Nothing
// is skipped.
//
// # Goroutines
//
// A bubble ends only when all goroutines in it have ended, so each scenario shows
// as well that a queue leaves nothing behind after ShutDown.
//
// # Failure
//
// A queue whose ShutDown does not wake its workers makes a bubble panic with a
// "deadlock" message and the stacks of the goroutines that are left: the test
// at fault is the one whose function is in those stacks.
//
// # Testing
//
//	func TestContract(t *testing.T) {
//		queuetest.Run(t, queuetest.Implementation{
//			New: func() queue.Interface[string] { return newMyQueue() },
//		})
//	}
//
// Next: package deltafifo
package queuetest
