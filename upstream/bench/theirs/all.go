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

// Scenarios returns the work that client-go does in the comparison.
func Scenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(Queue()),
		fifobench.Scenarios(FIFO()),
		storebench.Scenarios(Store()),
		dispatchbench.Scenarios(Dispatch()),
		syncbench.Scenarios(Sync()),
	)
}

// PriorityScenarios returns the work that controller-runtime's priority queue does in the comparison.
func PriorityScenarios() []bench.Scenario { return queuebench.Scenarios(PriorityQueue()) }

// RealFIFOScenarios returns the work that client-go's newer FIFO does in the comparison: the one that its informers use by
// default, and that does not merge what waits.
func RealFIFOScenarios() []bench.Scenario { return fifobench.Scenarios(RealFIFO()) }
