// Package theirs runs the workloads of internal/lab/bench on the original: client-go's queue, FIFO,
// store, informer and client, and controller-runtime's priority queue. Its adapters satisfy the
// workloads' small interfaces. What they add, such as boxing an object in an interface, every user
// of the original must add too, so it belongs to the figure. The versions are those of go.mod, with
// default feature gates, and each part is used as its documentation recommends.
package theirs

import (
	"slices"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/dispatchbench"
	"orrery/internal/lab/bench/fifobench"
	"orrery/internal/lab/bench/queuebench"
	"orrery/internal/lab/bench/storebench"
	"orrery/internal/lab/bench/syncbench"
)

// Scenarios returns client-go's scenarios.
func Scenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(Queue()),
		fifobench.Scenarios(FIFO()),
		storebench.Scenarios(Store()),
		dispatchbench.Scenarios(Dispatch()),
		syncbench.Scenarios(Sync()),
	)
}

// PriorityScenarios returns the scenarios of controller-runtime's priority queue.
func PriorityScenarios() []bench.Scenario { return queuebench.Scenarios(PriorityQueue()) }

// RealFIFOScenarios returns the scenarios of client-go's newer FIFO, its informers' default, which
// does not merge waiting events.
func RealFIFOScenarios() []bench.Scenario { return fifobench.Scenarios(RealFIFO()) }
