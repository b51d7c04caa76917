// Package wait runs a function repeatedly until it is stopped, and waits for a condition without
// busy waiting. It has one form, which is the textbook: until.go is the page of the loops.
//
// # Concept
//
// Most of what a Kubernetes component does in the background is one loop:
//
//	          +--------------------------------------------+
//	          v                                            |
//	stopped? -+-> arm timer (non-sliding) -> run f -> arm timer (sliding) -> wait
//	    |                                                                     |
//	    +-- yes: return <------------------------- stopped while waiting ----+
//
// [JitterUntil] is that loop; everything else that runs a function periodically is a special case:
//
//	Forever          = Until that is never stopped
//	Until            = JitterUntil, no jitter, sliding     (pause between runs)
//	NonSlidingUntil  = JitterUntil, no jitter, non-sliding (pace of the starts)
//
// Jitter stretches each period by a random share, so that a thousand nodes that were started
// together do not call the server at the same moment.
//
// The Poll functions call a condition until it returns true. There are two generations, because
// Kubernetes code uses both: poll.go and poll_legacy.go say how they differ. A [Backoff] is a
// sequence of growing delays.
//
// # Guarantees
//
//   - A stop before a run starts prevents that run. Go's select picks at random between a timer and
//     a stop that are ready together, so every loop checks the stop once more after the timer.
//   - A function that is stopped before it begins never calls f. The immediate Poll forms are the
//     exception: they always call the condition once.
//   - f never runs concurrently with itself; it runs on the caller's goroutine.
//   - Jitter only ever adds to a period. Durations saturate: a delay that would overflow becomes
//     the longest possible one and never a negative one, which would spin.
//
// # Goroutines
//
// Only [Group] starts goroutines, one for each Start. The owner of the group stops them through the
// channel or context that it passed to them, then calls Wait.
//
// # Failure
//
// A panic in f or in a condition goes to [HandleCrash]. With [ReallyCrash] off, the loop continues
// with the next period, and a condition that panicked counts as "not yet".
//
// # Testing
//
// Package waittest has the behaviour as a suite that runs against this package and against
// k8s.io/apimachinery/pkg/util/wait, in bubbles in which an hour passes at once.
//
// Sources: the JitterUntil article ("the implementation of timed tasks in Kubernetes"), and the
// package documentation of k8s.io/apimachinery/pkg/util/wait.
//
// Next: package queue
package wait
