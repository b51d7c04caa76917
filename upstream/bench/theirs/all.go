package theirs

import "orrery/internal/bench"

// Scenarios returns the work that client-go does in the comparison.
func Scenarios() []bench.Scenario {
	return nil
}

// PriorityScenarios returns the work that controller-runtime's priority queue does in the comparison.
func PriorityScenarios() []bench.Scenario {
	return nil
}
