package theirs

import (
	"slices"

	"orrery/internal/bench"
	"orrery/internal/bench/queuebench"
	"orrery/internal/bench/syncbench"
)

// Scenarios returns the work that client-go does in the comparison.
func Scenarios() []bench.Scenario {
	return slices.Concat(
		queuebench.Scenarios(Queue()),
		syncbench.Scenarios(Sync()),
	)
}

// PriorityScenarios returns the work that controller-runtime's priority queue does in the comparison.
func PriorityScenarios() []bench.Scenario { return queuebench.Scenarios(PriorityQueue()) }
